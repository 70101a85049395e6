"""Guided cases: a fault is heard, hints lead from view to view, and the answer waits below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from kvstudio.app.cases.case import guided_cases
from kvstudio.app.cases.case_list import CaseList
from kvstudio.app.cases.hints_view import HintsView
from kvstudio.app.cases.listening import CaseSound
from kvstudio.app.cases.runs import CaseRuns
from kvstudio.app.cases.sound_row import SoundRow
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.player import Player
from kvstudio.app.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.app.cases.case import Case
    from kvstudio.app.workspace import Workspace

HEALTHY, FAULTY = "healthy", "faulty"


class CasesPanel(Panel):
    """Three cases, each solved in a minute.

    Attributes:
        runs: makes the runs; the window does what it asks for.

    Signals:
        panel_requested: (key) a hint points at this panel.
    """

    title = "Guided cases"
    key = "cases"

    panel_requested = Signal(str)

    def __init__(
        self, workspace: Workspace, parent: QWidget | None = None, *, player: Player | None = None
    ) -> None:
        super().__init__(workspace, parent)
        self.cases = guided_cases()
        self.runs = CaseRuns(self)
        self.sound = CaseSound(player or Player(), self)
        self.list = CaseList(self.cases)
        self.sounds = SoundRow()
        self.hints = HintsView()
        self._arrange()
        self.list.case_chosen.connect(self._show_case)
        self.list.run_requested.connect(self._on_list_run_requested)
        self.sounds.pressed.connect(self._on_sounds_pressed)
        self.hints.panel_requested.connect(self.panel_requested)
        self.runs.changed.connect(self._show_state)
        self.sound.changed.connect(self._show_state)
        self.sound.failed.connect(self.sounds.say)
        self._show_case()

    def refresh(self, changed: Changed) -> None:
        if changed & Changed.STYLE:
            self.hints.restyle()

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(10)
        for part in (self.list, self.sounds, self.hints):
            column.addWidget(part)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)

    @property
    def _case(self) -> Case | None:
        return self.list.chosen

    def _show_case(self) -> None:
        self.sound.stop()
        self.hints.show_case(self._case)
        self._show_state()

    def _show_state(self) -> None:
        self.list.allow(can_run=self._case is not None and not self.runs.busy)
        self.sounds.say(self.runs.words)
        have = self._recordings()
        self.sounds.show_state(
            healthy=HEALTHY in have, faulty=FAULTY in have, heard=self.sound.heard
        )

    def _recordings(self) -> dict[str, Path]:
        if self._case is None:
            return {}
        paths = {
            HEALTHY: self.runs.recording_of(self._case.healthy),
            FAULTY: self.runs.recording_of(self._case.spec),
        }
        return {name: path for name, path in paths.items() if path is not None}

    def _on_list_run_requested(self) -> None:
        if self._case is not None:
            self.sound.stop()
            self.runs.begin(self._case)

    def _on_sounds_pressed(self, names: tuple[str, ...]) -> None:
        have = self._recordings()
        wanted = [(name, have[name]) for name in names if name in have]
        if self.sound.heard:
            self.sound.stop()
        elif wanted:
            self.sound.player.set_volume(Settings().volume)
            self.sound.play(wanted)
