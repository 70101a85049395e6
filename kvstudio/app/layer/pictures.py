"""The pictures of a layer in one view: K and V, or what they were before and after an expansion.

All pictures show the same slots and columns. Mouse: see `PictureBox`; a click puts the cursor, a
double click shows everything again. Keys: see `geometry.stepped`; + - 0 magnify.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QScrollBar, QWidget

from kvstudio.app.layer.geometry import Cell, Columns, stepped
from kvstudio.app.layer.picture import ZOOM_STEP, Marks, Picture, Shown
from kvstudio.app.layer.picture_view import PictureView
from kvstudio.app.layer.rulers import HeadRuler, SlotRuler
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent, QResizeEvent

    from kvstudio.app.codes import BoolArray, CodeArray
    from kvstudio.app.painting.strips import SlotRoles

STEPS_PER_SLOT = 10
LEAST_ROWS = 256
COMPACT_HEIGHT = 160


class LayerPictures(QWidget):
    """Pictures beside each other or stacked, with rulers, scroll bars and one cursor.

    Signals:
        cell_hovered: the `Cell` under the pointer, or None.
        cell_chosen: the `Cell` that the user moved the cursor to.
    """

    cell_hovered = Signal(object)
    cell_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cell: Cell | None = None
        self.columns = Columns()
        self._rows = 1  # of the slot axis
        self._wanted_rows = 1  # seen until the user looks elsewhere
        self._arranged: tuple[tuple[str, ...], bool] = ((), False)
        self._pictures: list[Picture] = []
        self._heads: list[HeadRuler] = []
        self._slot_rulers: list[SlotRuler] = []
        self._by_hand = False
        self.view = PictureView(self.take_key)
        self._down = QScrollBar(Qt.Orientation.Vertical)
        self._across = QScrollBar(Qt.Orientation.Horizontal)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addWidget(self.view, 0, 0)
        grid.addWidget(self._down, 0, 1)
        grid.addWidget(self._across, 1, 0)
        self._down.valueChanged.connect(self._on_down_value_changed)
        self._across.valueChanged.connect(self._on_across_value_changed)
        self.view.pointer_moved.connect(self._on_view_pointer_moved)
        self.view.pointer_left.connect(self._on_view_pointer_left)
        self.view.menu_wanted.connect(self._choose_at)
        self.view.scene().sigMouseClicked.connect(self._on_scene_mouse_clicked)
        self.setFocusProxy(self.view)

    @property
    def rows(self) -> list[int]:
        """Slots of each picture."""
        return [picture.rows for picture in self._pictures]

    @property
    def seen(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The columns and the slots in sight, as (first, end)."""
        (left, right), (top, bottom) = self._pictures[0].box.viewRange()
        return (left, right), (top, bottom)

    def codes(self, picture: int) -> CodeArray:
        """What one of the pictures shows, `[T, B * H * D]`."""
        return self._pictures[picture].codes

    def first_with(self, slot: int) -> int:
        """The first picture that has a slot."""
        return next((n for n, rows in enumerate(self.rows) if slot < rows), 0)

    def arrange(self, names: Sequence[str], *, stacked: bool) -> None:
        """Makes room for pictures of these names; K's come first, as many as V's."""
        if (tuple(names), stacked) == self._arranged:
            return
        self._arranged = (tuple(names), stacked)
        self.view.ci.clear()
        self._pictures, self._heads, self._slot_rulers = [], [], []
        across = max(1, len(names) // 2) if stacked else len(names)
        for number, name in enumerate(names):
            self._add(name, *divmod(number, across))
        first = self._pictures[0].box
        first.sigRangeChanged.connect(self._on_first_range_changed)
        for picture in self._pictures[1:]:
            picture.box.setXLink(first)
            picture.box.setYLink(first)
        self._fit_heads()
        self._rows = 0  # what the new boxes look at is not set yet
        self.cell = None

    def show_codes(self, shown: Sequence[Shown], columns: Columns, rows_in_use: int) -> None:
        """Shows one set of codes in each picture.

        Args:
            shown: as many as were arranged.
            columns: what their columns are.
            rows_in_use: slots filled; where there are far more, the rest is not shown at first.
        """
        rows = max(1, *(len(each.codes) for each in shown))
        anew = (rows, columns) != (self._rows, self.columns)
        self._rows, self.columns = rows, columns
        for picture, head, each in zip(self._pictures, self._heads, shown, strict=True):
            picture.show(each, columns)
            head.show(columns, each.note)
            picture.limit(rows, len(columns))
        wanted = min(rows, max(LEAST_ROWS, 1 << (2 * rows_in_use - 1).bit_length()))
        if anew or (wanted != self._wanted_rows and not self._by_hand):
            self._wanted_rows = wanted
            self.look_at_all()

    def show_slots(self, roles: SlotRoles, fresh: BoolArray, offset: int, slot: int | None) -> None:
        """What the slots are, which the frame wrote, where the next write goes, the selected one.

        Args:
            roles: `PaintedRole` numbers `[T]`.
            fresh: `[T]`.
            offset: slots filled.
            slot: absent if none is selected.
        """
        for ruler in self._slot_rulers:
            ruler.show(roles, fresh, offset)
        for number, picture in enumerate(self._pictures):
            active = self.cell is not None and self.cell.picture == number
            picture.marks.show(Marks(self._rows, offset, slot, self.cell, active))

    def put_cursor(self, cell: Cell | None) -> None:
        """Puts the cursor somewhere and brings it into sight; tells nobody."""
        self.cell = cell
        if cell is not None and self._pictures:
            self._bring_into_sight(cell)

    def look_at_all(self) -> None:
        """Shows every column and every slot that is worth it."""
        self._by_hand = False
        if self._pictures:
            box = self._pictures[0].box
            box.setRange(xRange=(0, len(self.columns)), yRange=(0, self._wanted_rows), padding=0)

    def cell_at(self, position: QPointF) -> Cell | None:
        """The cell under a position of the scene."""
        for number, picture in enumerate(self._pictures):
            box = picture.box
            if box.sceneBoundingRect().contains(position):
                found = picture.image.cell_at(picture.image.mapFromScene(position))
                return None if found is None else Cell(number, *found)
        return None

    def position_of(self, cell: Cell) -> QPointF:
        """The middle of a cell in the scene."""
        image = self._pictures[cell.picture].image
        middle: QPointF = image.mapToScene(QPointF(cell.column + 0.5, cell.slot + 0.5))
        return middle

    def restyle(self) -> None:
        self.view.setBackground(current_palette().panel)
        for picture in self._pictures:
            picture.restyle()

    def take_key(self, event: QKeyEvent) -> bool:
        """Does what a key asks for; whether it asked for anything."""
        key = Qt.Key(event.key())
        zoom = {
            Qt.Key.Key_Plus: ZOOM_STEP,
            Qt.Key.Key_Equal: ZOOM_STEP,
            Qt.Key.Key_Minus: 1 / ZOOM_STEP,
        }.get(key)
        if key is Qt.Key.Key_0:
            self.look_at_all()
        elif zoom is not None and self._pictures:
            cell = self.cell
            center = None if cell is None else pg.Point(cell.column + 0.5, cell.slot + 0.5)
            self._pictures[0].box.magnify(zoom, center)
        else:
            cell = stepped(self.cell, key, event.modifiers(), self.rows, self.columns)
            if cell is None:
                return False
            self.put_cursor(cell)
            self.cell_chosen.emit(cell)
        return True

    # ---- private ------------------------------------------------------------------------------

    def _fit_heads(self) -> None:
        rows = 2 if self._arranged[1] else 1
        for head in self._heads:
            head.set_compact(self.height() < COMPACT_HEIGHT * rows)

    def _add(self, name: str, row: int, column: int) -> None:
        layout = self.view.ci
        picture = Picture()
        head = HeadRuler(picture.box, name)
        if column == 0:
            ruler = SlotRuler(picture.box)
            layout.addItem(ruler, 2 * row + 1, 0)
            self._slot_rulers.append(ruler)
        layout.addItem(head, 2 * row, column + 1)
        layout.addItem(picture.box, 2 * row + 1, column + 1)
        picture.box.moved_by_hand.connect(self._on_box_moved_by_hand)
        self._pictures.append(picture)
        self._heads.append(head)

    def _bring_into_sight(self, cell: Cell) -> None:
        (left, right), (top, bottom) = self.seen
        box = self._pictures[0].box
        dx = min(cell.column - left, 0) or max(cell.column + 1 - right, 0)
        dy = min(cell.slot - top, 0) or max(cell.slot + 1 - bottom, 0)
        if dx or dy:
            box.translateBy(x=dx, y=dy)

    def _fit_scroll_bars(self) -> None:
        (left, right), (top, bottom) = self.seen
        for bar, start, end, whole in (
            (self._across, left, right, len(self.columns)),
            (self._down, top, bottom, self._rows),
        ):
            bar.blockSignals(True)
            bar.setRange(0, round(max(0.0, whole - (end - start)) * STEPS_PER_SLOT))
            bar.setPageStep(round((end - start) * STEPS_PER_SLOT))
            bar.setSingleStep(STEPS_PER_SLOT)
            bar.setValue(round(start * STEPS_PER_SLOT))
            bar.blockSignals(False)
            bar.setVisible(bar.maximum() > STEPS_PER_SLOT // 2)

    def _on_first_range_changed(self) -> None:
        self._fit_scroll_bars()

    def _on_box_moved_by_hand(self) -> None:
        self._by_hand = True

    def _on_down_value_changed(self, value: int) -> None:
        self._by_hand = True
        top = value / STEPS_PER_SLOT
        _, (first, end) = self.seen
        self._pictures[0].box.setYRange(top, top + end - first, padding=0)

    def _on_across_value_changed(self, value: int) -> None:
        self._by_hand = True
        left = value / STEPS_PER_SLOT
        (first, end), _ = self.seen
        self._pictures[0].box.setXRange(left, left + end - first, padding=0)

    def _on_view_pointer_moved(self, position: QPointF) -> None:
        self.cell_hovered.emit(self.cell_at(position))

    def _on_view_pointer_left(self) -> None:
        self.cell_hovered.emit(None)

    def _on_scene_mouse_clicked(self, event: pg.GraphicsScene.mouseEvents.MouseClickEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self.look_at_all()
            return
        self._choose_at(event.scenePos())

    def _choose_at(self, position: QPointF) -> None:
        cell = self.cell_at(position)
        if cell is not None:
            self.put_cursor(cell)
            self.cell_chosen.emit(cell)

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_heads()
