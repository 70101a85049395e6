"""The rulers of the layer's pictures: heads and dims along the top, slots down the side."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from kvstudio.app.layer.geometry import Columns
from kvstudio.app.painting.role_look import narrow_colors
from kvstudio.app.painting.strip_layout import tick_step
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

    from kvstudio.app.codes import BoolArray
    from kvstudio.app.painting.strips import SlotRoles

TITLE_HEIGHT = 17.0
HEADS_HEIGHT = 14.0
SLOTS_WIDTH = 46.0
ROLE_WIDTH = 5.0
FRESH_WIDTH = 3.0
LEAST_FRESH = 3.0
LABEL_DISTANCE = 22.0
WIDEST_DIM_LABEL = 18.0
_CENTRE = Qt.AlignmentFlag.AlignCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _Ruler(pg.GraphicsWidget):  # type: ignore[misc]  # pyqtgraph is untyped
    """Lies along one side of a view box and paints what the box shows."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self._box = box
        box.sigRangeChanged.connect(self._on_box_range_changed)

    def _font(self) -> QFont:
        font: QFont = self.font()
        font.setPointSizeF(font.pointSizeF() * 0.92)
        return font

    def _on_box_range_changed(self) -> None:
        self.update()


class HeadRuler(_Ruler):
    """The name of a picture, and below it its heads; zoomed in, the dims."""

    def __init__(self, box: pg.ViewBox, name: str) -> None:
        super().__init__(box)
        self.name, self.note = name, ""
        self._free_from = 0.0
        self.columns = Columns()
        self.set_compact(False)

    def show(self, columns: Columns, note: str) -> None:
        self.columns, self.note = columns, note
        self.update()

    def set_compact(self, compact: bool) -> None:
        """Whether the name stands in the same line as the heads, and the note is left out."""
        self._heads_top = 0.0 if compact else TITLE_HEIGHT
        self.setFixedHeight(self._heads_top + HEADS_HEIGHT)

    # ---- private ------------------------------------------------------------------------------

    def _paint_title(self, painter: QPainter, font: QFont, width: float) -> None:
        palette = current_palette()
        bold = QFont(font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(QColor(palette.text))
        height = self._heads_top or HEADS_HEIGHT
        painter.drawText(QRectF(0, 0, width, height), _LEFT, self.name)
        left = QFontMetricsF(bold).horizontalAdvance(f"{self.name}  ")
        painter.setFont(font)
        self._free_from = 0.0 if self._heads_top else left
        if not self._heads_top:
            return
        painter.setPen(QColor(palette.muted_text))
        cut = Qt.TextElideMode.ElideRight
        note = QFontMetricsF(font).elidedText(self.note, cut, width - left)
        painter.drawText(QRectF(left, 0, width - left, TITLE_HEIGHT), _LEFT, note)

    def _paint_heads(self, painter: QPainter, width: float) -> None:
        first, last = self._box.viewRange()[0]
        scale = width / max(last - first, 1e-9)
        dim, groups = self.columns.dim, self.columns.groups
        label = self.columns.head_label(groups - 1)
        widest = QFontMetricsF(painter.font()).horizontalAdvance(label)
        step = tick_step((widest + 8) / (dim * scale))
        for group in range(0, groups, step):
            # In the middle of what is seen of the head, so that no head loses its label.
            left = max(group * dim, first)
            right = min((group + 1) * dim, last)
            middle = ((left + right) / 2 - first) * scale
            if right > left and middle - widest / 2 >= self._free_from:
                room = QRectF(middle - 40, self._heads_top, 80, HEADS_HEIGHT)
                painter.drawText(room, _CENTRE, self.columns.head_label(group))

    def _paint_dims(self, painter: QPainter, width: float) -> None:
        first, last = self._box.viewRange()[0]
        scale = width / max(last - first, 1e-9)
        metrics = QFontMetricsF(painter.font())
        free_from, named = self._free_from, -1
        for column in range(max(0, ceil(first)), min(len(self.columns), floor(last))):
            group, dim = divmod(column, self.columns.dim)
            # The first column in sight of a head says which head it is.
            label = str(dim) if group == named else f"{self.columns.head_label(group)}·{dim}"
            half = metrics.horizontalAdvance(label) / 2 + 2
            middle = max((column + 0.5 - first) * scale, half)
            if middle - half >= free_from:
                room = QRectF(middle - half, self._heads_top, 2 * half, HEADS_HEIGHT)
                painter.drawText(room, _CENTRE, label)
                free_from, named = middle + half, group

    # ---- Qt overrides -------------------------------------------------------------------------

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        width = self.rect().width()
        font = self._font()
        painter.setClipRect(self.rect())
        self._paint_title(painter, font, width)
        painter.setPen(QColor(current_palette().muted_text))
        first, last = self._box.viewRange()[0]
        if width / max(last - first, 1e-9) >= WIDEST_DIM_LABEL:
            self._paint_dims(painter, width)
        else:
            self._paint_heads(painter, width)


class SlotRuler(_Ruler):
    """The numbers of the slots; a strip of roles, the slots written in this frame, the offset."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__(box)
        self._roles: SlotRoles = np.empty(0, np.uint8)
        self._fresh: BoolArray = np.empty(0, np.bool_)
        self._offset = 0
        self.setFixedWidth(SLOTS_WIDTH)

    def show(self, roles: SlotRoles, fresh: BoolArray, offset: int) -> None:
        """Args: `roles` uint8 `[T]`; `fresh` `[T]`, written in the frame shown."""
        self._roles, self._fresh, self._offset = roles, fresh, offset
        self.update()

    # ---- private ------------------------------------------------------------------------------

    def _y(self, slot: float) -> float:
        first, last = self._box.viewRange()[1]
        height: float = self.rect().height()
        share: float = (slot - first) / max(last - first, 1e-9)
        return share * height

    def _paint_numbers(self, painter: QPainter) -> None:
        first, last = self._box.viewRange()[1]
        scale = self._y(first + 1)
        step = tick_step(LABEL_DISTANCE / scale)
        right = SLOTS_WIDTH - ROLE_WIDTH - FRESH_WIDTH - 8
        height = QFontMetricsF(painter.font()).height()
        lowest = self.rect().height() - height
        for slot in range(floor(max(first, 0) / step) * step, ceil(last), step):
            if not first <= slot + 0.5 <= last or slot >= len(self._roles):
                continue
            top = min(max(self._y(slot + 0.5) - height / 2, 0.0), lowest)
            painter.drawText(QRectF(0, top, right, height), _RIGHT, str(slot))

    def _paint_roles(self, painter: QPainter) -> None:
        left = SLOTS_WIDTH - ROLE_WIDTH - 2
        colors = narrow_colors(current_palette())
        for first, end in _runs(self._roles):
            top, bottom = self._clipped(first, end)
            if bottom > top:
                color = QColor.fromRgb(int(colors[self._roles[first]]))
                painter.fillRect(QRectF(left, top, ROLE_WIDTH, bottom - top), color)

    def _paint_fresh(self, painter: QPainter) -> None:
        left = SLOTS_WIDTH - ROLE_WIDTH - FRESH_WIDTH - 3
        for first, end in _runs(self._fresh):
            if self._fresh[first]:
                top, bottom = self._clipped(first, end)
                if bottom <= top and not 0 <= top <= self.rect().height():
                    continue
                height = max(LEAST_FRESH, bottom - top)
                ink = QColor(current_palette().write_mark)
                painter.fillRect(QRectF(left, top, FRESH_WIDTH, height), ink)

    def _paint_offset(self, painter: QPainter) -> None:
        y = self._y(self._offset)
        if not 0 <= y <= self.rect().height():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(current_palette().text), 1))
        painter.setBrush(QColor(current_palette().text))
        left = SLOTS_WIDTH - ROLE_WIDTH - FRESH_WIDTH - 8
        corners = [QPointF(left, y - 3), QPointF(left, y + 3), QPointF(left + 4, y)]
        painter.drawPolygon(QPolygonF(corners))

    def _clipped(self, first: int, end: int) -> tuple[float, float]:
        height: float = self.rect().height()
        top, bottom = self._y(first), self._y(end)
        return min(max(top, 0.0), height), min(max(bottom, 0.0), height)

    # ---- Qt overrides -------------------------------------------------------------------------

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        if not len(self._roles):
            return
        painter.setFont(self._font())
        painter.setPen(QColor(current_palette().muted_text))
        self._paint_numbers(painter)
        self._paint_roles(painter)
        self._paint_fresh(painter)
        self._paint_offset(painter)


def _runs(values: SlotRoles | BoolArray) -> list[tuple[int, int]]:
    """Runs of equal neighbours as (first, end)."""
    edges = [0, *(np.flatnonzero(values[1:] != values[:-1]) + 1).tolist(), len(values)]
    return [(first, end) for first, end in pairwise(edges) if end > first]
