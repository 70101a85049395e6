"""A map of slots: one strip per layer, read, walked and marked by mouse or keyboard.

Ctrl + wheel magnifies, the plain wheel scrolls through layers, Shift + wheel along the slots.
The arrow keys walk from slot to slot and from layer to layer; with Ctrl they go to the next
change of role; Shift keeps the other end of the selection; + - 0 magnify.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from kvstudio.app.painting.strip_header import paint_header, paint_names
from kvstudio.app.painting.strip_layout import HEADER_HEIGHT, Sight, StripLayout, arrange
from kvstudio.app.painting.strip_marks import paint_marks, paint_selection
from kvstudio.app.painting.strip_painter import paint_group
from kvstudio.app.painting.strip_scene import Selection, ShownGroup, StripScene, shown_groups
from kvstudio.app.painting.strip_walk import ZOOM_STEP, described, magnified, stepped
from kvstudio.app.painting.words import smaller

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import (
        QFocusEvent,
        QKeyEvent,
        QMouseEvent,
        QPaintEvent,
        QResizeEvent,
        QWheelEvent,
    )
    from PySide6.QtWidgets import QWidget

    from kvstudio.app.painting.strips import StripGroup, StripMark
    from kvstudio.app.theme import Palette

MARGIN_AROUND_NAMES = 26.0
LEAST_GUTTER = 46.0
NOWHERE = (-1, -1)


class SlotStrips(QAbstractScrollArea):
    """Strips of slots in groups. Layers are counted through all groups, from 0.

    Signals:
        slots_selected: layer, first, end: by the user, not by `select`.
        slot_hovered: layer, slot; -1, -1 when the pointer leaves the strips.
    """

    slots_selected = Signal(int, int, int)
    slot_hovered = Signal(int, int)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._groups: tuple[StripGroup, ...] = ()
        self._shown: tuple[ShownGroup, ...] = ()
        self._layout = StripLayout((), LEAST_GUTTER, 1.0)
        self._zoom = 1.0
        self._marks: tuple[StripMark, ...] = ()
        self._selection: Selection | None = None
        self._hovered = NOWHERE
        self._palette = palette
        self.describe: Callable[[int, int], str] = self._description
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName("Slots of every layer")
        self.setFont(smaller(self.font()))

    @property
    def selection(self) -> Selection | None:
        return self._selection

    @property
    def zoom(self) -> float:
        return self._zoom

    @property
    def sight(self) -> Sight:
        return Sight(
            self._zoom, self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        )

    def set_groups(self, groups: Sequence[StripGroup]) -> None:
        self._groups = tuple(groups)
        self._arrange()
        layers = sum(len(group.strips) for group in groups)
        if self._selection is not None and self._selection.layer >= layers:
            self._selection = None

    def set_marks(self, marks: Sequence[StripMark]) -> None:
        self._marks = tuple(marks)
        self.viewport().update()

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.viewport().update()

    def select(self, layer: int, first: int, end: int) -> None:
        """Select slots `[first, end)` and bring them into view; emits nothing."""
        self._set_selection(Selection(layer, first, end, first))

    def clear_selection(self) -> None:
        self._selection = None
        self.viewport().update()

    def hit(self, point: QPointF) -> tuple[int, int] | None:
        """The (layer, slot) under a point of the viewport; slots past the strip's end too."""
        return self._layout.hit(point, self.sight)

    def slot_rect(self, layer: int, slot: int) -> QRectF:
        """Where a slot lies in the viewport."""
        return self._layout.slots_rect(layer, slot, slot + 1, self.sight)

    def set_zoom(self, zoom: float, around: float | None = None) -> None:
        """Magnify along the slots; what lies at x = `around` stays there."""
        zoom = min(max(zoom, 1.0), self._layout.greatest_zoom)
        anchor = self._layout.gutter if around is None else max(around, self._layout.gutter)
        within = anchor - self._layout.gutter
        left = (self.horizontalScrollBar().value() + within) * zoom / self._zoom - within
        self._zoom = zoom
        self._fit_scroll_bars()
        self.horizontalScrollBar().setValue(round(left))
        self.viewport().update()

    def scene(self) -> StripScene:
        """What is painted now."""
        return StripScene(
            self._shown,
            self._layout,
            self.sight,
            self._marks,
            self._selection,
            self.hasFocus(),
            self._palette,
            self.font(),
            self.devicePixelRatioF(),
        )

    def _arrange(self) -> None:
        metrics = QFontMetricsF(self.font())
        names = (strip.name for group in self._groups for strip in group.strips)
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        gutter = float(round(max(LEAST_GUTTER, widest + MARGIN_AROUND_NAMES)))
        sizes = [(len(group.strips), group.slots) for group in self._groups]
        size = self.viewport().size()
        self._layout = arrange(sizes, gutter, size.width(), size.height())
        self._shown = shown_groups(self._groups, self._layout)
        self._zoom = min(self._zoom, self._layout.greatest_zoom)
        self._fit_scroll_bars()
        self.viewport().update()

    def _fit_scroll_bars(self) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setRange(0, round(self._layout.plot_width * (self._zoom - 1)))
        across.setPageStep(round(self._layout.plot_width))
        across.setSingleStep(24)
        down.setRange(0, max(0, round(self._layout.height) - self.viewport().height()))
        down.setPageStep(self.viewport().height())
        down.setSingleStep(20)

    def _set_selection(self, selection: Selection) -> None:
        self._selection = selection
        self._bring_into_view(selection)
        self.setAccessibleDescription(self.describe(selection.layer, selection.cursor))
        self.viewport().update()

    def _bring_into_view(self, selection: Selection) -> None:
        rect = self.slot_rect(selection.layer, selection.cursor)
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        if rect.left() < self._layout.gutter:
            across.setValue(across.value() - round(self._layout.gutter - rect.left()) - 20)
        elif rect.right() > self._layout.width:
            across.setValue(across.value() + round(rect.right() - self._layout.width) + 20)
        if rect.top() < HEADER_HEIGHT:
            down.setValue(down.value() - round(HEADER_HEIGHT - rect.top()) - 4)
        elif rect.bottom() > self.viewport().height():
            down.setValue(down.value() + round(rect.bottom() - self.viewport().height()) + 4)

    def _user_selects(self, layer: int, cursor: int, *, extend: bool) -> None:
        old = self._selection
        if extend and old is not None and old.layer == layer:
            chosen = old.extended_to(cursor)
        else:
            chosen = Selection(layer, cursor, cursor + 1, cursor)
        self._set_selection(chosen)
        self.slots_selected.emit(layer, chosen.first, chosen.end)

    def _description(self, layer: int, slot: int) -> str:
        return described(self.scene().strip(layer), slot)

    def _hover(self, point: QPointF) -> None:
        place = self.hit(point) or NOWHERE
        if place != self._hovered:
            self._hovered = place
            self.slot_hovered.emit(*place)

    # Qt overrides

    def paintEvent(self, event: QPaintEvent) -> None:
        scene = self.scene()
        painter = QPainter(self.viewport())
        size = self.viewport().size()
        painter.fillRect(QRectF(QPointF(), size.toSizeF()), QColor(self._palette.panel))
        painter.setFont(self.font())
        painter.setBrushOrigin(QPointF(self._layout.gutter - scene.sight.left, -scene.sight.top))
        painter.save()
        painter.setClipRect(
            QRectF(self._layout.gutter - 6, 0, self._layout.width, float(size.height()))
        )
        for shown in self._shown:
            paint_group(painter, scene, shown, size.height())
        paint_marks(painter, scene)
        paint_selection(painter, scene)
        painter.restore()
        for shown in self._shown:
            paint_names(painter, scene, shown)
            paint_header(painter, scene, shown)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.hit(event.position())
        if event.button() is Qt.MouseButton.LeftButton and place is not None:
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._user_selects(*place, extend=extend)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(event.position())
        place = self.hit(event.position())
        chosen = self._selection
        if event.buttons() & Qt.MouseButton.LeftButton and place is not None and chosen is not None:
            if place[1] != chosen.cursor:
                self._user_selects(chosen.layer, place[1], extend=True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hovered = NOWHERE
        self.slot_hovered.emit(*NOWHERE)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turns = event.angleDelta().y() / 120
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and turns:
            self.set_zoom(self._zoom * ZOOM_STEP**turns, event.position().x())
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and turns:
            across = self.horizontalScrollBar()
            across.setValue(across.value() - round(turns * across.pageStep() / 8))
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        zoomed = magnified(self._zoom, Qt.Key(event.key()))
        if zoomed is not None:
            at = self._selection
            self.set_zoom(zoomed, self.slot_rect(at.layer, at.cursor).center().x() if at else None)
            return
        target = stepped(self.scene(), Qt.Key(event.key()), event.modifiers())
        if target is None:
            super().keyPressEvent(event)
            return
        self._user_selects(
            *target, extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        )

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tip(event.globalPos(), self.hit(QPointF(event.pos())))
            return True
        return super().viewportEvent(event)

    def _show_tip(self, at: QPoint, place: tuple[int, int] | None) -> None:
        if place is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(at, self.describe(*place), self.viewport())
