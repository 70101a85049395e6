"""Hints, one more at each press, and the answer when it is asked for."""

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
    """Signals.

    panel_requested: (key) the user wants to look where a hint points.
    """

    panel_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._case: Case | None = None
        self._shown = 0
        heading = QLabel("Find it")
        heading.setProperty("role", "section")
        self.hints = self._label()
        self.more = QPushButton()
        self.reveal = QPushButton("Show the answer")
        self.reveal.setCheckable(True)
        self.answer = self._label()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for widget in (heading, self.hints, self.more, self.reveal, self.answer):
            column.addWidget(widget)
        self.more.clicked.connect(self._on_more_clicked)
        self.reveal.toggled.connect(self._show)
        self.hints.linkActivated.connect(self.panel_requested)
        self.answer.linkActivated.connect(self.panel_requested)

    def show_case(self, case: Case | None) -> None:
        self._case, self._shown = case, 0
        self.setVisible(case is not None)
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
        self.hints.setVisible(self._shown > 0)
        left = len(hints) - self._shown
        first = "Give me a hint" if self._shown == 0 else "Another hint"
        self.more.setText(f"{first} ({left} left)" if left else "No more hints")
        self.more.setEnabled(left > 0)
        self.answer.setVisible(self.reveal.isChecked())
        self.reveal.setText("Hide the answer" if self.reveal.isChecked() else "Show the answer")
        where = _link("findings", "Findings", color)
        self.answer.setText(
            f"<p>{escape(self._case.answer)}</p><p>{where} tells all of it, link by link.</p>"
        )

    def _on_more_clicked(self) -> None:
        self._shown += 1
        self._show()


def _hint_html(hint: Hint, color: str) -> str:
    where = _link(hint.panel, PANEL_WORDS.get(hint.panel, hint.panel), color)
    return f'<p style="margin:0 0 7px 0">{where}: {escape(hint.text)}</p>'


def _link(panel: str, words: str, color: str) -> str:
    return f'<a href="{panel}" style="color:{color}; font-weight:600">{escape(words)}</a>'
