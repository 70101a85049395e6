"""Messages across the top of the window: they stay until read, and never take the focus."""

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

Tone = Literal["error", "note"]
MOST_SHOWN = 3
DETAIL_HEIGHT = 120
GLYPHS = {"error": "!", "note": "i"}


class Message(QFrame):
    """One message: a glyph, words, buttons, and details that unfold.

    Signals:
        dismissed: it wants to go.
    """

    dismissed = Signal()

    def __init__(
        self,
        words: str,
        tone: Tone,
        detail: str = "",
        action: tuple[str, Callable[[], object]] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.text, self.tone = words, tone
        self.setProperty("banner", tone)
        self.words = _Words(words)
        self.detail = QPlainTextEdit(detail, readOnly=True)
        self.detail.setFixedHeight(DETAIL_HEIGHT)
        self.detail.hide()
        self.buttons: dict[str, QAbstractButton] = {}
        self._row = QHBoxLayout()
        self._row.setSpacing(10)
        self._row.addWidget(_glyph(tone))
        self._row.addWidget(self.words, 1)
        if action is not None:
            self._add(QPushButton(action[0]), action[0], action[1])
        if detail:
            button = self._add(QPushButton("Details"), "Details")
            button.setCheckable(True)
            button.toggled.connect(self.detail.setVisible)
        close = QToolButton()
        close.setText("✕")
        close.setToolTip("Dismiss (Esc)")
        self._add(close, "Dismiss", self.dismissed.emit)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 5, 6, 5)
        column.addLayout(self._row)
        column.addWidget(self.detail)

    def _add(
        self, button: QAbstractButton, name: str, pressed: Callable[[], object] | None = None
    ) -> QAbstractButton:
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(name)
        if pressed is not None:
            button.clicked.connect(lambda: pressed())
        self.buttons[name] = button
        self._row.addWidget(button)
        return button


class _Words(QLabel):
    """Wrapped words that ask for no more height than they need; a tool bar cannot work it out."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(self.heightForWidth(self.width()))


def _glyph(tone: Tone) -> QLabel:
    glyph = QLabel(GLYPHS[tone])
    glyph.setAlignment(Qt.AlignmentFlag.AlignCenter)
    glyph.setProperty("banner_glyph", tone)
    glyph.setFixedSize(18, 18)
    return glyph


class Banner(QWidget):
    """At most three messages, the newest at the bottom; hidden when there are none.

    Signals:
        emptied_or_filled: whether there is something to show.
    """

    emptied_or_filled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.messages: list[Message] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def show_message(
        self,
        words: str,
        *,
        tone: Tone = "error",
        detail: str = "",
        action: tuple[str, Callable[[], object]] | None = None,
    ) -> Message:
        """Adds a message; the same words again replace the earlier one.

        Args:
            words: what happened and what to do.
            tone: `error` or, for what is only good to know, `note`.
            detail: shown when the user unfolds it.
            action: a button's text and what it does; pressing it dismisses the message.
        """
        for old in [each for each in self.messages if each.text == words]:
            self.dismiss(old)
        message = Message(words, tone, detail, action, self)
        message.dismissed.connect(lambda: self.dismiss(message))
        if action is not None:
            message.buttons[action[0]].clicked.connect(message.dismissed)
        self.messages.append(message)
        self._column.addWidget(message)
        message.show()
        for old in self.messages[:-MOST_SHOWN]:
            self.dismiss(old)
        self.emptied_or_filled.emit(True)
        return message

    def dismiss_newest(self) -> bool:
        """For the Esc key; whether there was one."""
        if self.messages:
            self.dismiss(self.messages[-1])
            return True
        return False

    def dismiss(self, message: Message) -> None:
        """Takes a message away, if it is still there."""
        if message in self.messages:
            self.messages.remove(message)
            self._column.removeWidget(message)
            message.hide()
            message.deleteLater()
            self.emptied_or_filled.emit(bool(self.messages))
