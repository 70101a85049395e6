"""How far loading is: what, how many bytes of how many, time left, and a way out."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from kvstudio.app.setup.fields import GAP, Note
from kvstudio.app.words import in_bytes, in_time
from kvstudio.recording.protocol import Progress

STEPS = 1000


class ProgressStrip(QWidget):
    """Hidden until there is progress to show.

    Signals:
        cancel_requested: the user pressed Cancel.
    """

    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = QProgressBar(textVisible=False)
        self.words = Note("muted")
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self._on_cancel_clicked)
        left = QVBoxLayout()
        left.setSpacing(GAP)
        left.addWidget(self.words)
        left.addWidget(self.bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addLayout(left, 1)
        row.addWidget(self.cancel)
        self.hide()

    def show_progress(self, progress: Progress) -> None:
        total = progress.total
        self.bar.setRange(0, STEPS if total else 0)  # without a total: a bar that runs
        if total:
            self.bar.setValue(round(STEPS * min(progress.done / total, 1)))
        self.words.say(progress_words(progress))
        self.show()

    def show_working(self, words: str) -> None:
        """Something of unknown length began."""
        self.show_progress(Progress(what=words, unit="steps"))

    def finish(self) -> None:
        self.hide()
        self.cancel.setEnabled(True)

    def _on_cancel_clicked(self) -> None:
        self.cancel.setEnabled(False)  # what cannot be cut short ends in its own time
        self.words.say("cancelling…")
        self.cancel_requested.emit()


def progress_words(progress: Progress) -> str:
    """Such as `model.safetensors, 4.1 MB of 8.7 MB, 12 s left`."""
    parts = [progress.what]
    if progress.unit == "bytes" and progress.total:
        parts.append(f"{in_bytes(progress.done)} of {in_bytes(progress.total)}")
    elif progress.unit == "bytes" and progress.done:
        parts.append(in_bytes(progress.done))
    elif progress.total:
        parts.append(f"{progress.done / progress.total:.0%}")
    if progress.seconds_left is not None:
        parts.append(f"{in_time(progress.seconds_left)} left")
    # A number stays with its unit where the line is wrapped.
    return ", ".join(part.replace(" ", "\u00a0") for part in parts if part)
