"""In place of the findings: why there are none to see, and what is normal though it looks odd."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from kvstudio.app.findings.words import NORMAL


class EmptyPage(QScrollArea):
    """Calm words.

    Signals:
        cases_requested: the user wants to see what a finding looks like.
        answer_requested: the user wants to see what was found, though it gives a case away.
    """

    cases_requested = Signal()
    answer_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words, self.normal = QLabel(), QLabel(NORMAL)
        for label in (self.words, self.normal):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setProperty("role", "muted")
            label.setMinimumSize(0, 0)
        self.cases = QPushButton("Guided cases…")
        self.cases.setToolTip("Three faults to hear, find and understand, with the demo model")
        self.cases.clicked.connect(self.cases_requested)
        self.answer = QPushButton("Show what was found")
        self.answer.clicked.connect(self.answer_requested)
        page = QWidget()
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QScrollArea, QScrollArea > QWidget > QWidget { background: none; }")
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 4, 12, 10)
        column.setSpacing(10)
        column.addWidget(self.words)
        column.addWidget(self.normal)
        for button in (self.cases, self.answer):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def say(self, words: str, *, offers_cases: bool = False, offers_answer: bool = False) -> None:
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.cases.setVisible(offers_cases)
        self.answer.setVisible(offers_answer)
        self.normal.setVisible(not (offers_cases or offers_answer))
