"""Guided cases: a fault is heard, hints lead from view to view, and the answer waits below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from kvstudio.app.cases.case import guided_cases
from kvstudio.app.cases.case_list import CaseList
from kvstudio.app.cases.hints_view import HintsView
from kvstudio.app.cases.listening import CaseSound
from kvstudio.app.cases.runs import CaseRuns
from kvstudio.app.cases.secret import Secret
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
        secret: whether what was found in the open recording is still to be found by the user.

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
        self.secret = Secret(workspace, self)
        self.sound = CaseSound(player or Player(), self)
        self.list = CaseList(self.cases)
        self.sounds = SoundRow()
        self.hints = HintsView()
        self._arrange()
        self.list.case_chosen.connect(self._show_case)
        self.list.run_requested.connect(self._on_list_run_requested)
        self.sounds.pressed.connect(self._on_sounds_pressed)
        self.hints.panel_requested.connect(self.panel_requested)
        self.hints.answered.connect(self._on_hints_answered)
        self.hints.said.connect(self._show_end)
        self.runs.changed.connect(self._show_state)
        self.sound.changed.connect(self._show_state)
        self.sound.failed.connect(self.sounds.say)
        self._show_case()

    def refresh(self, changed: Changed) -> None:
        if changed & Changed.STYLE:
            self.hints.restyle()

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        told = QWidget()
        column = QVBoxLayout(told)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(10)
        for part in (self.list, self.sounds, self.hints):
            column.addWidget(part)
        column.addStretch(1)
        self.page = QScrollArea(widgetResizable=True)
        self.page.setFrameShape(QFrame.Shape.NoFrame)
        self.page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.page.setWidget(told)
        line = QFrame()
        line.setFixedHeight(1)
        line.setStyleSheet("background: palette(mid);")
        self.hints.bar.setContentsMargins(10, 6, 10, 10)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.page, 1)
        whole.addWidget(line)
        whole.addWidget(self.hints.bar)

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
            self.secret.begin(self._case)
            self.runs.begin(self._case)

    def _on_hints_answered(self) -> None:
        if self._case is not None:
            self.secret.tell(self._case)

    def _show_end(self) -> None:
        """What was said last, in sight; a label knows its height only when it is laid out."""
        QTimer.singleShot(0, self, self._scroll_down)

    def _scroll_down(self) -> None:
        bar = self.page.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _on_sounds_pressed(self, names: tuple[str, ...]) -> None:
        have = self._recordings()
        wanted = [(name, have[name]) for name in names if name in have]
        if self.sound.heard:
            self.sound.stop()
        elif wanted:
            self.sound.player.set_volume(Settings().volume)
            self.sound.play(wanted)
