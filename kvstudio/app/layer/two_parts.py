"""The pictures and, while it is wanted, something at their side: right of them or below."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from kvstudio.app.kept_share import KeptShare

SIDE_SHARE = 0.4
WIDE = 1.7  # width by height from which on the side stands to the right


class TwoParts(QSplitter):
    """Turns with the room there is; the user may move the line between the parts."""

    def __init__(self, main: QWidget, side: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._side = side
        self.setChildrenCollapsible(False)
        self.addWidget(main)
        self.addWidget(side)
        side.hide()
        self._shared_out = False
        self._share = KeptShare(self, "layer", 1 - SIDE_SHARE)

    def show_side(self, visible: bool) -> None:
        self._side.setVisible(visible)
        if visible and not self._shared_out:
            self._share_out()

    # ---- private ------------------------------------------------------------------------------

    def _share_out(self) -> None:
        self._share.divide()
        self._shared_out = self._side.isVisible()

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= WIDE * self.height()
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.orientation() is not orientation:
            self.setOrientation(orientation)
            self._share_out()
