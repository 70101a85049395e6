"""Setup: what the next run is made of, what it will need, and how far loading is."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from kvstudio.app.dropping import Kind, dropped_file
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.settings import Settings
from kvstudio.app.setup.budget_section import BudgetSection
from kvstudio.app.setup.edits_section import EditsSection
from kvstudio.app.setup.form import SetupForm
from kvstudio.app.setup.model_section import ModelSection
from kvstudio.app.setup.progress_strip import ProgressStrip
from kvstudio.app.setup.sampling_section import SamplingSection
from kvstudio.app.setup.text_section import TextSection
from kvstudio.app.setup.voice_section import VoiceSection
from kvstudio.app.words import counted
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p
from kvstudio.recording.errors import SpecError
from kvstudio.recording.spec import ModelSource, RunSpec

BUDGET_DELAY_MS = 350
CAN_BUDGET = {"loaded", "ready", "held"}


class SetupPanel(Panel):
    """The form, the loaded model and voice, the budget, and the two buttons that use them.

    Signals:
        form_changed: what is filled in is different.
        load_requested, start_requested, cancel_requested: a button was pressed.
        budget_requested: (text, max_tokens) to be answered by a `Budgeted` event.
    """

    title = "Setup"
    key = "setup"

    form_changed = Signal()
    load_requested = Signal()
    start_requested = Signal()
    cancel_requested = Signal()
    budget_requested = Signal(str, object)

    def __init__(
        self,
        workspace: Workspace,
        parent: QWidget | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(workspace, parent)
        self._settings = settings or Settings()
        self._state = "starting"
        self._model_card: Mapping[str, Any] = {}
        self._voice_card: Mapping[str, Any] = {}
        self._budget_delay = QTimer(self, singleShot=True, interval=BUDGET_DELAY_MS)
        self._budget_delay.timeout.connect(self._on_budget_delay_over)
        self._make_sections()
        self._make_buttons()
        self._arrange()
        self.setAcceptDrops(True)
        self._show_engine(self._settings.remembered("engine"))
        self.form = SetupForm()
        self.show_form(SetupForm.from_dict(self._settings.remembered(self.key)))

    # ---- what is filled in --------------------------------------------------------------------

    def model(self) -> ModelSource:
        """The model that is filled in; raises SpecError if it cannot be loaded."""
        return self.form.model()

    def spec(self) -> RunSpec:
        """The run that is filled in; raises SpecError if it cannot be started."""
        return self.form.spec()

    def show_form(self, form: SetupForm) -> None:
        """Fills everything in."""
        for section in self.sections:
            blocked = section.blockSignals(True)
            section.fill(form)
            section.blockSignals(blocked)
        self._take_form(form)

    def take_file(self, kind: Kind, path: Path) -> None:
        """Fills in a file that was dropped on the window."""
        if kind == "voice":
            self.show_form(replace(self.form, voice=str(path)))
        elif kind == "config":
            self.show_form(replace(self.form, kind="config", config=str(path)))
        elif kind == "checkpoint":
            self.show_form(replace(self.form, kind="checkpoint", checkpoint=str(path)))
        self._settings.folder = path.parent

    # ---- what the engine says -----------------------------------------------------------------

    def take_event(self, event: object) -> None:
        if isinstance(event, p.Progress):
            self.progress.show_progress(event)
        elif isinstance(event, p.Ready):
            facts = {"languages": event.languages, "voices": event.voices}
            self._settings.remember("engine", {**facts, "devices": event.devices})
            self._show_engine({**facts, "devices": event.devices})
        elif isinstance(event, p.Loaded):
            self._model_card, self._voice_card = event.card, {}
            self._show_cards()
        elif isinstance(event, p.Voiced):
            self._voice_card = event.card
            self._remember_voice(str(event.card.get("source", "")))
            self._show_cards()
        elif isinstance(event, p.Budgeted):
            self.budget.show_chunks(event.chunks)
        elif isinstance(event, p.Failed) and event.command == p.Budget.name:
            self.budget.show_unknown(event.message)

    def show_state(self, state: str, words: str) -> None:
        """One of ENGINE_STATES, with words."""
        self._state = state
        if state in ("loading", "voicing"):
            self.progress.show_working(words)
        else:
            self.progress.finish()
        if state in ("starting", "dead"):
            self._model_card, self._voice_card = {}, {}
            self._show_cards()
        self._ask_for_budget()

    def show_possible(self, moves: frozenset[str]) -> None:
        """Enables the buttons that work now; the others say why they do not."""
        problem = next(iter(self.form.problems().values()), "")
        self.load.setEnabled("load" in moves)
        self.start.setEnabled("start" in moves)
        count = len(self.form.edits)
        self.start.setText(f"Start run with {counted(count, 'edit')}" if count else "Start run")
        self.load.setToolTip("Load the model and make the voice (F9)")
        why = f"\nNot now: {problem}" if problem else ""
        self.start.setToolTip(f"Begin a new run, held before its text prefill{why}")

    # ---- private ------------------------------------------------------------------------------

    def _make_sections(self) -> None:
        self.model_section = ModelSection(lambda: self._settings.folder)
        self.voice_section = VoiceSection(lambda: self._settings.folder)
        self.text_section = TextSection()
        self.sampling_section = SamplingSection()
        self.edits_section = EditsSection()
        self.budget = BudgetSection()
        self.sections = (
            self.model_section,
            self.voice_section,
            self.text_section,
            self.sampling_section,
            self.edits_section,
        )
        for section in self.sections:
            section.edited.connect(self._on_section_edited)

    def _make_buttons(self) -> None:
        self.progress = ProgressStrip()
        self.progress.cancel_requested.connect(self.cancel_requested)
        self.load = QPushButton("Load")
        self.load.clicked.connect(self.load_requested)
        self.start = QPushButton("Start run")
        self.start.setDefault(True)
        self.start.clicked.connect(self.start_requested)
        for button in (self.load, self.start):
            button.setEnabled(False)  # until somebody says what works

    def _arrange(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(14)
        for section in (*self.sections[:-1], self.budget, self.edits_section):
            column.addWidget(section)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        self.edits_section.card_unfolded.connect(lambda card: _show_whole(scroll, card))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.load)
        buttons.addWidget(self.start, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(10, 6, 10, 10)
        foot.setSpacing(8)
        foot.addWidget(self.progress)
        foot.addLayout(buttons)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(scroll, 1)
        whole.addLayout(foot)

    def _show_engine(self, facts: Mapping[str, Any]) -> None:
        blocked = self.model_section.blockSignals(True)
        self.model_section.show_engine(facts.get("languages", []), facts.get("devices") or ["cpu"])
        self.model_section.blockSignals(blocked)
        self._predefined = [str(each) for each in facts.get("voices", [])]
        self.voice_section.show_offers(self._predefined, self._settings.recents("voices"))

    def _remember_voice(self, voice: str) -> None:
        if Path(voice).is_absolute() or "://" in voice:
            self._settings.add_recent("voices", voice)
            self.voice_section.show_offers(self._predefined, self._settings.recents("voices"))
            self.voice_section.fill(self.form)

    def _take_form(self, form: SetupForm) -> None:
        self.form = form
        self._settings.remember(self.key, form.to_dict())
        problems = form.problems()
        for section in self.sections:
            section.show_problems(problems)
        self._show_cards()
        self._ask_for_budget()
        self.form_changed.emit()

    def _show_cards(self) -> None:
        chosen = self._model_is_loaded()
        self.model_section.show_card(self._model_card, chosen=chosen)
        self.sampling_section.show_card(self._model_card if chosen else {})
        voiced = self._voice_card.get("source") == self.form.voice.strip()
        self.voice_section.show_card(self._voice_card, chosen=chosen and voiced)

    def _model_is_loaded(self) -> bool:
        try:
            model = self.form.model()
        except SpecError:
            return False
        card = self._model_card
        return (card.get("name"), card.get("kind")) == (model.title, model.kind)

    def _ask_for_budget(self) -> None:
        if not self.form.text.strip():
            self.budget.show_unknown("There is no text to speak.")
        elif not self._model_is_loaded():
            self.budget.show_unknown("Load the model to see what this text needs.")
        elif self._state in CAN_BUDGET and "max_tokens" not in self.form.problems():
            self._budget_delay.start()

    def _on_budget_delay_over(self) -> None:
        if self._state in CAN_BUDGET and self._model_is_loaded() and self.form.text.strip():
            typed = self.form.max_tokens.strip()
            self.budget_requested.emit(self.form.text.strip(), int(typed) if typed else None)

    def _on_section_edited(self) -> None:
        form = self.form
        for section in self.sections:
            form = section.read(form)
        if form.kind != self.form.kind:
            self.voice_section.fill(form)
        self._take_form(form)

    # ---- Qt overrides -------------------------------------------------------------------------

    def refresh(self, changed: Changed) -> None:
        """Nothing here shows the recording."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        dropped = dropped_file(event.mimeData())
        if dropped is not None and dropped[0] != "recording":
            event.acceptProposedAction()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        dropped = dropped_file(event.mimeData())
        if dropped is not None and dropped[0] != "recording":
            self.take_file(*dropped)
            event.acceptProposedAction()


def _show_whole(scroll: QScrollArea, card: QWidget, passes: int = 3) -> None:
    """Scrolls to a new card, again and again while the layout is still giving it its place.

    The first pass comes before the scroll bar knows that the page has grown: it would stop at the
    old end.
    """
    if passes:
        scroll.ensureWidgetVisible(card, 0, 60)
        QTimer.singleShot(0, card, lambda: _show_whole(scroll, card, passes - 1))
