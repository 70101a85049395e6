"""The graphics view that the pictures of a layer are laid out in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent, QMouseEvent

GAP = 8


class PictureView(pg.GraphicsLayoutWidget):  # type: ignore[misc]  # pyqtgraph is untyped
    """Tells where the pointer is, and hands on the keys.

    Args:
        take_key: does what a key asks for; whether it asked for anything.

    Signals:
        pointer_moved: position in the scene.
        pointer_left: the pointer is elsewhere.
        menu_wanted: position in the scene; the menu comes after this, for what lies there.
    """

    pointer_moved = Signal(QPointF)
    pointer_left = Signal()
    menu_wanted = Signal(QPointF)

    def __init__(self, take_key: Callable[[QKeyEvent], bool]) -> None:
        super().__init__()
        self._take_key = take_key
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Values of K and V, slots down, heads and dims across")
        self.ci.setContentsMargins(0, 0, 6, 2)
        self.ci.setSpacing(0)
        self.ci.layout.setHorizontalSpacing(GAP)

    # ---- Qt overrides -------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.RightButton:
            self.menu_wanted.emit(self.mapToScene(event.position().toPoint()))
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        # Not the scene's own signal: it drops moves that come soon after another, the last too.
        self.pointer_moved.emit(self.mapToScene(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointer_left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.setAccepted(self._take_key(event))
