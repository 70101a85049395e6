"""Buttons to hear the healthy run, the faulty one, or both, one after the other."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

BOTH = ("healthy", "faulty")
BEFORE_RUN = "Run it to hear it."


class SoundRow(QWidget):
    """A button stops what it started.

    Signals:
        pressed: (names) what is to be heard, in this order.
    """

    pressed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        heading = QLabel("Listen")
        heading.setProperty("role", "section")
        self.words = QLabel(BEFORE_RUN)
        self.words.setProperty("role", "muted")
        self.words.setWordWrap(True)
        self.buttons = {
            ("healthy",): self._button("Healthy", ("healthy",)),
            ("faulty",): self._button("Faulty", ("faulty",)),
            BOTH: self._button("One after the other", BOTH),
        }
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.buttons["healthy",])
        row.addWidget(self.buttons["faulty",])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(heading)
        column.addWidget(self.buttons[BOTH])
        column.addLayout(row)
        column.addWidget(self.words)

    def say(self, words: str) -> None:
        self.words.setText(words)
        self.words.setVisible(bool(words))

    def show_state(self, *, healthy: bool, faulty: bool, heard: str) -> None:
        """Which runs there are, and which of them sounds now."""
        have = {"healthy": healthy, "faulty": faulty}
        for names, button in self.buttons.items():
            button.setEnabled(all(have[name] for name in names))
        if heard:
            self.say(f"Now the {heard} run. Press again to stop.")
        elif not faulty and not self.words.text():
            self.say(BEFORE_RUN)

    # ---- private ------------------------------------------------------------------------------

    def _button(self, text: str, names: tuple[str, ...]) -> QPushButton:
        button = QPushButton(f"▶  {text}")
        button.setEnabled(False)
        button.clicked.connect(lambda: self.pressed.emit(names))
        return button
