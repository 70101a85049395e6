"""Left and Right go from frame to frame wherever the focus is, but where one types or walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QRadioButton,
    QTextEdit,
    QWidget,
)

from kvstudio.app.frame_line.frame_line import FrameLine
from kvstudio.app.layer.picture_view import PictureView
from kvstudio.app.painting.slot_strip import SlotStrips

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

# In these the arrow keys have a work of their own, which their help tells.
WALKED = (
    QLineEdit,
    QAbstractSpinBox,
    QComboBox,
    QAbstractSlider,
    QRadioButton,
    SlotStrips,
    PictureView,
    FrameLine,
)
PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class FrameKeys(QObject):
    """Listens to the widget that has the focus, and to no other: that costs nothing."""

    def __init__(self, window: QMainWindow, back: QAction, forward: QAction) -> None:
        super().__init__(window)
        self._window = window
        self._actions = {Qt.Key.Key_Left: back, Qt.Key.Key_Right: forward}
        app = cast("QApplication", QApplication.instance())
        app.focusChanged.connect(self._on_app_focus_changed)

    # ---- private ------------------------------------------------------------------------------

    def _on_app_focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is not None:
            old.removeEventFilter(self)
        if new is not None and self._is_ours(new) and not has_use_for_arrows(new):
            new.installEventFilter(self)

    def _is_ours(self, widget: QWidget) -> bool:
        """In the window itself, or in a dock that floats."""
        window = widget.window()
        return window is self._window or (
            isinstance(window, QDockWidget) and window.parent() is self._window
        )

    # ---- Qt overrides -------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            action = self._actions.get(Qt.Key(event.key()))
            if action is not None and event.modifiers() in PLAIN:
                action.trigger()
                return True
        return super().eventFilter(watched, event)


def has_use_for_arrows(widget: QWidget) -> bool:
    if isinstance(widget, (QTextEdit, QPlainTextEdit)):
        return not widget.isReadOnly()
    return isinstance(widget, WALKED) or isinstance(widget.window(), QDialog)
