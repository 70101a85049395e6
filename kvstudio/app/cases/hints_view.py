"""Hints, one more at each press, and the answer when it is asked for.

The buttons are in a bar of their own, which does not move however much there is to read.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from kvstudio.app.cases.case import Case, Hint

PANEL_WORDS = {
    "audio": "Audio", "frames": "Frames", "ops": "Ops", "cache_map": "Cache map",
    "ledger": "Length ledger", "tensors": "Tensors", "layer": "Layer view", "findings": "Findings",
}  # fmt: skip


class HintsView(QWidget):
    """What was said so far.

    Attributes:
        bar: the buttons.

    Signals:
        panel_requested: (key) the user wants to look where a hint points.
        said: there is more to read.
        answered: the answer is shown.
    """

    panel_requested = Signal(str)
    said = Signal()
    answered = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._case: Case | None = None
        self._shown = 0
        self.heading = _section("Hints")
        self.hints = self._label()
        self.answer_heading = _section("The answer")
        self.answer = self._label()
        self.more = QPushButton()
        self.reveal = QPushButton("Show the answer")
        self.reveal.setCheckable(True)
        self.bar = QWidget()
        _stack(self, self.heading, self.hints, self.answer_heading, self.answer)
        _stack(self.bar, _section("Find it"), self.more, self.reveal)
        self.more.clicked.connect(self._on_more_clicked)
        self.reveal.toggled.connect(self._on_reveal_toggled)
        self.hints.linkActivated.connect(self.panel_requested)
        self.answer.linkActivated.connect(self.panel_requested)

    def show_case(self, case: Case | None) -> None:
        self._case, self._shown = case, 0
        self.bar.setVisible(case is not None)
        self.reveal.setChecked(False)
        self._show()

    def restyle(self) -> None:
        self._show()

    # ---- private ------------------------------------------------------------------------------

    def _label(self) -> QLabel:
        label = QLabel()
        label.setWordWrap(True)
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        return label

    def _show(self) -> None:
        if self._case is None:
            return
        hints, color = self._case.hints, current_palette().accent
        self.hints.setText("".join(_hint_html(h, color) for h in hints[: self._shown]))
        for widget in (self.heading, self.hints):
            widget.setVisible(self._shown > 0)
        left = len(hints) - self._shown
        first = "Give me a hint" if self._shown == 0 else "Another hint"
        self.more.setText(f"{first} ({left} left)" if left else "No more hints")
        self.more.setEnabled(left > 0)
        for widget in (self.answer_heading, self.answer):
            widget.setVisible(self.reveal.isChecked())
        self.reveal.setText("Hide the answer" if self.reveal.isChecked() else "Show the answer")
        where = _link("findings", "Findings", color)
        self.answer.setText(
            f"<p>{escape(self._case.answer)}</p><p>{where} tells all of it, link by link.</p>"
        )

    def _on_more_clicked(self) -> None:
        self._shown += 1
        self._show()
        self.said.emit()

    def _on_reveal_toggled(self, wanted: bool) -> None:
        self._show()
        if wanted:
            self.answered.emit()
            self.said.emit()


def _section(words: str) -> QLabel:
    label = QLabel(words)
    label.setProperty("role", "section")
    return label


def _stack(whole: QWidget, *parts: QWidget) -> None:
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(6)
    for part in parts:
        column.addWidget(part)


def _hint_html(hint: Hint, color: str) -> str:
    where = _link(hint.panel, PANEL_WORDS.get(hint.panel, hint.panel), color)
    return f'<p style="margin:0 0 7px 0">{where}: {escape(hint.text)}</p>'


def _link(panel: str, words: str, color: str) -> str:
    return f'<a href="{panel}" style="color:{color}; font-weight:600">{escape(words)}</a>'
