"""Which case, what one hears in it, and the button that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QPushButton, QRadioButton, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.app.cases.case import Case

INTRODUCTION = (
    "Three faults in the demo model, each found in about a minute. Run one, listen, and let the "
    "hints lead you from view to view."
)
MISSING = "The cases are missing from this installation; install KVStudio again."


class CaseList(QWidget):
    """Signals.

    case_chosen: another case.
    run_requested: run the chosen one.
    """

    case_chosen = Signal()
    run_requested = Signal()

    def __init__(self, cases: Sequence[Case], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cases = list(cases)
        self._group = QButtonGroup(self)
        self.buttons = [QRadioButton(f"{n}  {case.title}") for n, case in enumerate(cases, 1)]
        self.symptom = _wrapped("")
        self.run = QPushButton("Run it")
        self.run.setDefault(True)
        self.run.setToolTip(
            "Records the healthy run unseen, then the faulty one in view. A run that is going on "
            "ends; its recording stays."
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        introduction = _wrapped(INTRODUCTION if cases else MISSING)
        introduction.setProperty("role", "muted")
        column.addWidget(introduction)
        column.addSpacing(2)
        for button in self.buttons:
            self._group.addButton(button)
            column.addWidget(button)
        column.addSpacing(4)
        column.addWidget(_section("What one hears"))
        column.addWidget(self.symptom)
        column.addWidget(self.run)
        if self.buttons:
            self.buttons[0].setChecked(True)
        self._show_symptom()
        self._group.buttonToggled.connect(self._on_group_button_toggled)
        self.run.clicked.connect(self.run_requested)

    @property
    def chosen(self) -> Case | None:
        return next(
            (
                case
                for case, button in zip(self.cases, self.buttons, strict=True)
                if button.isChecked()
            ),
            None,
        )

    def allow(self, *, can_run: bool) -> None:
        self.run.setEnabled(can_run)

    # ---- private ------------------------------------------------------------------------------

    def _show_symptom(self) -> None:
        case = self.chosen
        self.symptom.setText(case.symptom if case is not None else "")

    def _on_group_button_toggled(self, button: QRadioButton, is_checked: bool) -> None:
        if is_checked:
            self._show_symptom()
            self.case_chosen.emit()


def _section(words: str) -> QLabel:
    label = QLabel(words)
    label.setProperty("role", "section")
    return label


def _wrapped(words: str) -> QLabel:
    label = QLabel(words)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
