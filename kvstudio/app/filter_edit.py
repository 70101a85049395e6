"""A line for filtering as one types: it tells once the typing pauses."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QWidget

PAUSE_MS = 120


class FilterEdit(QLineEdit):
    """Enter and Down go on to the list; Escape empties the line.

    Args:
        hint: shown while the line is empty.
        help_text: the syntax, as a tool tip.

    Signals:
        settled: the text, after a pause in the typing.
        list_wanted: the user is done typing and wants to walk through the list.
    """

    settled = Signal(str)
    list_wanted = Signal()

    def __init__(self, hint: str, help_text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, placeholderText=hint, clearButtonEnabled=True)
        self.setToolTip(help_text)
        self._settled_text = ""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.settle)
        self.textChanged.connect(lambda: self._pause.start())

    def focus_by_find(self, panel: QWidget) -> None:
        """Lets Ctrl+F anywhere in the panel come here."""
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), panel)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._on_find_activated)

    def settle(self) -> None:
        """Tells now, if there is anything new to tell."""
        self._pause.stop()
        text = self.text().strip()
        if text != self._settled_text:
            self._settled_text = text
            self.settled.emit(text)

    def _on_find_activated(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    # ---- Qt overrides -------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self.settle()
            self.list_wanted.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
            self.settle()
        else:
            super().keyPressEvent(event)
