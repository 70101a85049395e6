"""One picture of a layer: codes in a box that is scrolled and magnified, and marks upon them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from kvstudio.app.layer.geometry import Columns
from kvstudio.app.painting.code_image import CodeImageItem
from kvstudio.app.painting.words import draw_word, fitting_word
from kvstudio.app.theme import Palette, current_palette

if TYPE_CHECKING:
    from PySide6.QtGui import QTransform
    from PySide6.QtWidgets import (
        QGraphicsSceneWheelEvent,
        QStyleOptionGraphicsItem,
        QWidget,
    )

    from kvstudio.app.codes import CodeArray
    from kvstudio.app.layer.geometry import Cell

ZOOM_STEP = 1.25
WHEEL_SHARE = 0.12
LEAST_HEAD_WIDTH = 7.0
LEAST_CELL = 5.0
FEWEST_CELLS = 4
THIN_FRAME = 8.0


@dataclass(frozen=True, eq=False)
class Shown:
    """One picture.

    Attributes:
        name: in bold above it; a note follows.
        codes: `[T, B * H * D]`.
        fill: what an unwritten slot holds, in a word.
    """

    name: str
    note: str
    codes: CodeArray
    fill: str


@dataclass(frozen=True)
class Marks:
    """What is marked on a picture.

    Attributes:
        rows: slots of the axis; those past the picture's own are not allocated.
        offset: slots filled; a line below them.
        slot: the selected one.
        cell: where the cursor stands, if in this picture or its counterpart.
        is_active: whether the cursor stands in this picture.
    """

    rows: int = 0
    offset: int | None = None
    slot: int | None = None
    cell: Cell | None = None
    is_active: bool = False


class PictureBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph is untyped
    """Ctrl + wheel magnifies, the wheel scrolls slots, Shift + wheel columns, dragging moves.

    Signals:
        moved_by_hand: the user looks elsewhere.
    """

    moved_by_hand = Signal()

    def __init__(self) -> None:
        super().__init__(invertY=True, enableMenu=False, border=None, defaultPadding=0)
        self.sigRangeChangedManually.connect(self.moved_by_hand)

    def magnify(self, factor: float, center: object = None) -> None:
        self.scaleBy((1 / factor, 1 / factor), center=center)
        self.moved_by_hand.emit()

    # ---- Qt overrides -------------------------------------------------------------------------

    def wheelEvent(self, event: QGraphicsSceneWheelEvent, axis: int | None = None) -> None:
        turns = event.delta() / 120
        held = event.modifiers()
        (left, right), (top, bottom) = self.viewRange()
        if held & Qt.KeyboardModifier.ControlModifier:
            self.magnify(ZOOM_STEP**turns, self.mapToView(event.pos()))
        elif held & Qt.KeyboardModifier.ShiftModifier:
            self.translateBy(x=-turns * WHEEL_SHARE * (right - left))
            self.moved_by_hand.emit()
        else:
            self.translateBy(y=-turns * WHEEL_SHARE * (bottom - top))
            self.moved_by_hand.emit()
        event.accept()

    def mouseDragEvent(self, event: pg.GraphicsScene.mouseEvents.MouseDragEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            super().mouseDragEvent(event)
        else:
            event.ignore()


class Picture:
    """A box, its code image and its marks; `box` is what goes into a layout."""

    def __init__(self) -> None:
        self.box = PictureBox()
        self.image = CodeImageItem(current_palette())
        self.marks = MarksItem()
        self.box.addItem(self.image)
        self.box.addItem(self.marks)
        self.codes: CodeArray = np.empty((0, 0), np.uint8)

    @property
    def rows(self) -> int:
        return len(self.codes)

    def show(self, shown: Shown, columns: Columns) -> None:
        """Shows codes, also the same array after it changed."""
        self.codes = shown.codes
        self.image.fill = shown.fill
        self.image.set_codes(shown.codes)
        self.marks.columns, self.marks.own_rows = columns, self.rows

    def limit(self, rows: int, columns: int) -> None:
        """How far one can scroll and magnify."""
        self.box.setLimits(
            xMin=0,
            xMax=columns,
            yMin=0,
            yMax=rows,
            minXRange=min(columns, FEWEST_CELLS),
            minYRange=min(rows, FEWEST_CELLS),
        )

    def restyle(self) -> None:
        self.image.set_palette(current_palette())
        self.marks.update()


class MarksItem(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph is untyped
    """Heads, offset, selected slot and cursor, drawn on top of the codes."""

    def __init__(self) -> None:
        super().__init__()
        self.columns = Columns()
        self.own_rows = 0
        self._marks = Marks()

    def show(self, marks: Marks) -> None:
        if marks.rows != self._marks.rows:
            self.prepareGeometryChange()
        self._marks = marks
        self.update()

    # ---- private ------------------------------------------------------------------------------

    def _paint_heads(self, painter: QPainter, to_view: QTransform, palette: Palette) -> None:
        dim = self.columns.dim
        if dim * to_view.m11() < LEAST_HEAD_WIDTH * self._ratio(painter):
            return
        line = QColor(palette.muted_text)
        line.setAlpha(110)
        painter.setPen(QPen(line, 1))
        edges = range(dim, len(self.columns), dim)
        painter.drawLines([to_view.map(QLineF(x, 0, x, self.own_rows)) for x in edges])

    def _paint_offset(self, painter: QPainter, to_view: QTransform, palette: Palette) -> None:
        offset = self._marks.offset
        if offset is not None and 0 <= offset <= self.own_rows:
            painter.setPen(QPen(QColor(palette.text), 1))
            painter.drawLine(to_view.map(QLineF(0, offset, len(self.columns), offset)))

    def _paint_slot(self, painter: QPainter, to_view: QTransform, palette: Palette) -> None:
        slot = self._marks.slot
        if slot is None or slot >= self.own_rows:
            return
        frame = to_view.mapRect(QRectF(0, slot, len(self.columns), 1))
        frame = _at_least(frame, 3.0).adjusted(1, -1, -1, 1)
        _draw_frame(painter, frame, palette.accent, palette.background)

    def _paint_cell(self, painter: QPainter, to_view: QTransform, palette: Palette) -> None:
        cell = self._marks.cell
        if cell is None or cell.slot >= self.own_rows:
            return
        frame = _at_least(to_view.mapRect(QRectF(cell.column, cell.slot, 1, 1)), LEAST_CELL)
        frame = frame.adjusted(-1.5, -1.5, 1.5, 1.5)
        ink = palette.text if self._marks.is_active else palette.muted_text
        _draw_frame(painter, frame, ink, palette.background)

    def _paint_missing(self, painter: QPainter, to_view: QTransform, palette: Palette) -> None:
        """Says why there is nothing below the last slot."""
        if self._marks.rows > self.own_rows:
            bounds = QRectF(0, self.own_rows, len(self.columns), self._marks.rows - self.own_rows)
            area = to_view.mapRect(bounds.intersected(self.viewRect() or bounds))
            word = fitting_word(area, ("not allocated", "none"), painter.font())
            if word is not None:
                draw_word(painter, area, word, palette.muted_text)

    def _ratio(self, painter: QPainter) -> float:
        return painter.device().devicePixelRatioF()

    # ---- Qt overrides -------------------------------------------------------------------------

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, len(self.columns), max(self._marks.rows, self.own_rows))

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        to_view, palette = painter.worldTransform(), current_palette()
        painter.resetTransform()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        self._paint_heads(painter, to_view, palette)
        self._paint_offset(painter, to_view, palette)
        self._paint_missing(painter, to_view, palette)
        self._paint_slot(painter, to_view, palette)
        self._paint_cell(painter, to_view, palette)
        painter.setWorldTransform(to_view)


def _at_least(rect: QRectF, size: float) -> QRectF:
    wide = max(0.0, size - rect.width()) / 2
    high = max(0.0, size - rect.height()) / 2
    return rect.adjusted(-wide, -high, wide, high)


def _draw_frame(painter: QPainter, frame: QRectF, ink: str, halo: str) -> None:
    """A frame that is seen on any colour; a thin one hides less of what is around it."""
    thin = frame.height() < THIN_FRAME
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(halo), 2.4 if thin else 3.5))
    painter.drawRect(frame)
    painter.setPen(QPen(QColor(ink), 1.2 if thin else 1.6))
    painter.drawRect(frame)
