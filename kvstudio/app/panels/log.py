"""Log: what the model, its libraries or a fork printed, of this engine or of the recording."""

import time
from collections import deque
from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QFontDatabase, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from kvstudio.app.panel import Changed, Panel
from kvstudio.app.theme import current_palette
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p
from kvstudio.recording.errors import RecordingError
from kvstudio.recording.rows import LogLine

MOST_LINES = 5000
LOUD = ("error", "warning", "traceback", "exception", "failed")


class LogPanel(Panel):
    """Two logs, one shown at a time: the engine's since the window opened, and the recording's.

    Signals:
        line_added: the engine's log has another line.
    """

    title = "Log"
    key = "log"

    line_added = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self._engine_lines: deque[LogLine] = deque(maxlen=MOST_LINES)
        self._recorded: list[LogLine] = []
        self.source = QComboBox()
        self.source.addItem("engine", "engine")
        self.source.addItem("recording", "recording")
        self.source.setToolTip("Which log: this engine's, or the one kept in the recording")
        self.filter = QLineEdit(placeholderText="filter", clearButtonEnabled=True)
        self.counts = QLabel()
        self.counts.setProperty("role", "muted")
        self.clear = QPushButton("Clear")
        self.clear.setToolTip("Forget the engine's lines so far")
        self.text = QPlainTextEdit(readOnly=True, maximumBlockCount=MOST_LINES)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setPlaceholderText("Nothing was printed.")
        self._arrange()
        self.source.currentIndexChanged.connect(self._on_choice_changed)
        self.filter.textChanged.connect(self._on_choice_changed)
        self.clear.clicked.connect(self._on_clear_clicked)

    def take_event(self, event: object) -> None:
        if isinstance(event, p.Log):
            self.add(event.stream, event.text)
        elif isinstance(event, p.Failed):
            self.add("error", event.message)
            for line in event.detail.splitlines():
                self.add("error", line)

    def add(self, stream: str, text: str) -> None:
        """Adds a line to the engine's log."""
        line = LogLine(time.time(), stream, text)
        self._engine_lines.append(line)
        self.line_added.emit()
        if self.isVisible() and self._shows_engine() and self._passes(line):
            self._append([line])
            self._show_counts()
        else:
            self.mark(Changed.RECORDING)

    def refresh(self, changed: Changed) -> None:
        """Reads the recording's log as far as it is new."""
        if changed & (Changed.RECORDING | Changed.STYLE):
            self._recorded = []
        recording = self.workspace.recording
        if recording is not None:
            try:
                self._recorded += recording.logs(after=len(self._recorded))
            except RecordingError as error:
                self._recorded = [LogLine(0, "error", str(error))]
        self.source.setItemText(1, f"recording ({len(self._recorded):,})")
        if not self._shows_engine() or changed & (Changed.RECORDING | Changed.STYLE):
            self._show_lines()

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(6, 6, 6, 0)
        top.addWidget(self.source)
        top.addWidget(self.filter, 1)
        top.addWidget(self.counts)
        top.addWidget(self.clear)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(top)
        column.addWidget(self.text)

    def _shows_engine(self) -> bool:
        return bool(self.source.currentData() == "engine")

    def _lines(self) -> list[LogLine]:
        return list(self._engine_lines) if self._shows_engine() else self._recorded

    def _passes(self, line: LogLine) -> bool:
        wanted = self.filter.text().casefold()
        return not wanted or wanted in line.text.casefold() or wanted == line.stream

    def _show_lines(self) -> None:
        self.text.clear()
        self._append([line for line in self._lines() if self._passes(line)][-MOST_LINES:])
        self._show_counts()

    def _show_counts(self) -> None:
        lines = self._lines()
        passing = sum(map(self._passes, lines)) if self.filter.text() else len(lines)
        filtered = f"{passing:,} of " if self.filter.text() else ""
        self.counts.setText(f"{filtered}{len(lines):,}")
        self.clear.setEnabled(self._shows_engine() and bool(lines))

    def _append(self, lines: list[LogLine]) -> None:
        bar = self.text.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        for line in lines:
            if not self.text.document().isEmpty():
                cursor.insertBlock()
            cursor.insertText(f"{_clock(line.at)} ", self._format("time", ""))
            cursor.insertText(line.text, self._format(line.stream, line.text))
        cursor.endEditBlock()
        if at_end:
            bar.setValue(bar.maximum())

    def _format(self, stream: str, text: str) -> QTextCharFormat:
        palette = current_palette()
        loud = stream == "error" or any(word in text.casefold() for word in LOUD)
        color = palette.muted_text if stream == "time" else palette.error if loud else palette.text
        form = QTextCharFormat()
        form.setForeground(QColor(color))
        return form

    def _on_choice_changed(self) -> None:
        self._show_lines()

    def _on_clear_clicked(self) -> None:
        self._engine_lines.clear()
        self._show_lines()


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%H:%M:%S}" if at else "--:--:--"
