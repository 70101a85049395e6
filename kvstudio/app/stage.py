"""A panel's contents, or the words that say why there are none."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStackedWidget, QWidget

NO_RECORDING = (
    "No recording is open. Start a run with Load and Step, or open one from the File menu."
)


class Stage(QStackedWidget):
    """Shows `contents`, or a sentence in its place.

    Attributes:
        words: the label with the sentence.
    """

    def __init__(self, contents: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._contents = contents
        self.words = QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setProperty("role", "muted")
        self.words.setContentsMargins(24, 12, 24, 12)
        self.words.setMinimumSize(0, 0)
        self.addWidget(contents)
        self.addWidget(self.words)

    def say(self, sentence: str) -> None:
        self.words.setText(sentence)
        self.setCurrentWidget(self.words)

    def present(self) -> None:
        self.setCurrentWidget(self._contents)

    @property
    def sentence(self) -> str:
        """What is said in place of the contents; empty while they are shown."""
        return self.words.text() if self.currentWidget() is self.words else ""
