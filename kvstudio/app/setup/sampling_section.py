"""Setup, Sampling: the numbers of a run; an empty field means the model's own value."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QWidget

from kvstudio.app.setup.fields import GAP, Choice, Note, Section
from kvstudio.app.setup.form import SetupForm

# Field, label, key in the model's card (its own value), what it does.
NUMBERS = (
    ("seed", "seed", "", "Seed of the random numbers; the same seed repeats a run"),
    ("temperature", "temperature", "temperature", "Variance of the sampled noise"),
    ("decode_steps", "decode steps", "decode_steps", "Sampler steps for each latent"),
    ("eos_threshold", "EOS threshold", "eos_threshold", "The stop logit must exceed it"),
    ("frames_after_eos", "after EOS", "", "Frames generated after the stop logit exceeds it"),
    ("max_tokens", "tokens a chunk", "max_tokens", "Longer texts are split into chunks"),
)
COLUMNS = 3
STATES = (("copied", True), ("in place", False))
TRACES = (("every op", "full"), ("cache only", "cache"), ("off", "off"))


class SamplingSection(Section):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Sampling", parent)
        self.lines: dict[str, QLineEdit] = {}
        self.problem = Note("error")
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(GAP + 2)
        self.grid.setVerticalSpacing(2)
        for column in range(COLUMNS):
            self.grid.setColumnStretch(column, 1)
        for position, (name, label, _, tip) in enumerate(NUMBERS):
            line = QLineEdit()
            line.setMinimumWidth(36)
            line.textChanged.connect(self.edited)
            self.lines[name] = line
            self._place(position, label, line, tip)
        self.state = self._choice(STATES)
        self.trace = self._choice(TRACES)
        tip = "The voice's state is copied for every chunk, or changed in place"
        self._place(6, "voice state", self.state, tip)
        tip = "Every aten op; only slots and state; or frames and audio alone"
        self._place(7, "trace", self.trace, tip)
        self.rows.addLayout(self.grid)
        self.rows.addWidget(self.problem)
        self.show_card({})

    def fill(self, form: SetupForm) -> None:
        for name, line in self.lines.items():
            typed = getattr(form, name)
            if typed != line.text():
                line.setText(typed)
        self.state.setCurrentIndex(self.state.findData(form.copy_state))
        self.trace.setCurrentIndex(self.trace.findData(form.trace))

    def read(self, form: SetupForm) -> SetupForm:
        typed: dict[str, Any] = {name: line.text() for name, line in self.lines.items()}
        copied, trace = self.state.currentData(), self.trace.currentData()
        return replace(form, copy_state=bool(copied), trace=str(trace), **typed)

    def show_problems(self, problems: Mapping[str, str]) -> None:
        self.problem.say("\n".join(problems[name] for name in self.lines if name in problems))

    def show_card(self, card: Mapping[str, Any]) -> None:
        """Shows the loaded model's own values where fields are empty."""
        for name, _, key, _ in NUMBERS:
            if name != "seed":
                known = card.get(key) if key else None
                self.lines[name].setPlaceholderText("auto" if known is None else f"{known:g}")

    # ---- private ------------------------------------------------------------------------------

    def _choice(self, entries: tuple[tuple[str, Any], ...]) -> Choice:
        choice = Choice()
        for words, value in entries:
            choice.addItem(words, value)
        choice.activated.connect(self.edited)
        return choice

    def _place(self, position: int, label: str, field: QWidget, tip: str) -> None:
        row, column = divmod(position, COLUMNS)
        words = QLabel(label)
        words.setProperty("role", "caption")
        words.setBuddy(field)
        words.setToolTip(tip)
        field.setToolTip(tip)
        field.setAccessibleName(label)
        self.grid.addWidget(words, 2 * row, column)
        self.grid.addWidget(field, 2 * row + 1, column)
