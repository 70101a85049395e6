"""What Load, Step, Run and their kin do: commands to the engine, each at its time.

One press may need several commands, each of which the engine takes only in some states. They are a
plan that goes on whenever the engine's state changes:

    Step, no run yet    [empty|loaded|ready] Start, [held] Step
    Restart, held       [held] Stop, [empty|loaded|ready] Start
    Load                [empty|loaded|ready] Load, [loaded|ready] Voice

The plan is dropped when a command fails, the user stops, or the engine dies.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, Protocol, get_args

from PySide6.QtCore import QObject, QTimer, Signal

from kvstudio.app.engine_client import Engine
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p
from kvstudio.recording.errors import SpecError
from kvstudio.recording.spec import ModelSource, RunSpec

Move = Literal[
    "load",
    "step",
    "step_10",
    "run",
    "pause",
    "run_to",
    "run_to_finding",
    "stop",
    "restart",
    "start",
]
MOVES: tuple[Move, ...] = get_args(Move)

IDLE = frozenset({"empty", "loaded", "ready"})
HAS_MODEL = frozenset({"loaded", "ready"})
HELD = frozenset({"held"})
IN_RUN = frozenset({"held", "running"})
BEGINNING: frozenset[Move] = frozenset(
    {"step", "step_10", "run", "run_to", "run_to_finding", "start"}
)
# Answered without a part in any plan.
ASIDE = frozenset({p.Budget.name, p.Break.name})
# A step shorter than this leaves the buttons as they are, or they would flicker at each one.
STEP_GRACE_MS = 200


class RunSource(Protocol):
    """Where the next run's settings come from: the Setup panel."""

    def model(self) -> ModelSource:
        """Raises SpecError if no model can be loaded by what is filled in."""

    def spec(self) -> RunSpec:
        """Raises SpecError if no run can be started by what is filled in."""


class RunControl(QObject):
    """Steers the engine, and opens the recording of each run it starts.

    Signals:
        possible_changed: which moves work now is different; see `possible`.
        run_started: (path) of the new recording.
        trouble_met: (words) something could not be done.
    """

    possible_changed = Signal()
    run_started = Signal(object)
    trouble_met = Signal(str)

    def __init__(
        self,
        engine: Engine,
        workspace: Workspace,
        source: RunSource,
        new_path: Callable[[RunSpec], Path],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine, self._workspace, self._source = engine, workspace, source
        self._new_path = new_path
        self.possible: frozenset[Move] = frozenset()
        self.next_frame: int | None = None
        self.live_path: Path | None = None
        self._last_spec: RunSpec | None = None
        self._breaks: list[str] = []
        self._unseen: Path | None = None  # a run that the window does not show
        self._plan: deque[tuple[frozenset[str], p.Command]] = deque()
        self._awaiting = False
        self._stepping = QTimer(self, singleShot=True, interval=STEP_GRACE_MS)
        self._stepping.timeout.connect(self.update_possible)
        engine.event_received.connect(self._on_engine_event_received)
        engine.state_changed.connect(self._on_engine_state_changed)

    # ---- moves --------------------------------------------------------------------------------

    def load(self) -> None:
        """Loads the model and makes the voice that are filled in."""
        try:
            model, voice = self._source.model(), self._voice()
        except SpecError as error:
            self.trouble_met.emit(f"Nothing to load: {error}.")
            return
        steps: list[tuple[frozenset[str], p.Command]] = [(IDLE, p.Load(model=asdict(model)))]
        if voice:
            steps.append((HAS_MODEL, p.Voice(voice=voice)))
        self._begin(*self._ending_run(), *steps)

    def start(self) -> None:
        """A new run of what is filled in, held before its text prefill."""
        self._begin_run()

    def step(self, count: int = 1) -> None:
        """Lets `count` frames happen, starting a run first if there is none."""
        self._move(p.Step(count=count))

    def run(self, until: int | None = None, *, to_finding: bool = False) -> None:
        """Runs on: until frame `until`, or something is found, or the end; starts a run first."""
        self._move(p.Run(until=until, to_finding=to_finding))

    def break_on(self, kinds: Sequence[str]) -> None:
        """From now on every run holds at findings of these kinds."""
        self._breaks = list(kinds)
        if self._engine.state not in ("starting", "dead"):
            self._engine.send(p.Break(kinds=self._breaks))

    def run_whole(self, spec: RunSpec, *, shown: bool = True) -> None:
        """A run of this spec to its end; unless `shown`, the window keeps what it shows."""
        self._begin_run(spec, then=(HELD, p.Run()), shown=shown)

    def run_edited(self, spec: RunSpec, until: int) -> None:
        """A run of this spec, held when frame `until` is complete."""
        self._begin_run(spec, then=(HELD, p.Run(until=until)))

    def pause(self) -> None:
        self._begin((IN_RUN, p.Pause()))

    def stop(self) -> None:
        """Ends the run, or the loading."""
        self._drop_plan()
        self._awaiting = True
        self._engine.send(p.Stop())
        self.update_possible()

    def restart(self) -> None:
        """A new run of the same spec; brings the engine back if it is dead."""
        if self._engine.state == "dead":
            self._engine.restart()
        elif self._last_spec is not None:
            self._begin_run(self._last_spec)

    def ask_budget(self, text: str, max_tokens: int | None) -> None:
        """Asks what a text will need; a `Budgeted` event answers."""
        self._engine.send(p.Budget(text=text, max_tokens=max_tokens))

    @property
    def begins_anew(self) -> bool:
        """Whether Step and Run would begin a run in place of the recording that is open."""
        return self._engine.state not in IN_RUN and self._workspace.recording is not None

    def update_possible(self) -> None:
        """Looks again at which moves work; call it when what is filled in changes."""
        possible = self._find_possible()
        if possible != self.possible:
            self.possible = possible
            self.possible_changed.emit()

    # ---- private ------------------------------------------------------------------------------

    def _move(self, command: p.Command) -> None:
        if self._engine.state in IN_RUN:
            self._show_run()
            if isinstance(command, p.Step):
                self._stepping.start()
            self._begin((HELD, command))
        else:
            self._begin_run(then=(HELD, command))

    def _begin_run(
        self,
        spec: RunSpec | None = None,
        then: tuple[frozenset[str], p.Command] | None = None,
        *,
        shown: bool = True,
    ) -> None:
        try:
            spec = spec or self._source.spec()
            path = self._new_path(spec)
        except (SpecError, OSError) as error:
            self.trouble_met.emit(f"The run cannot start: {error}.")
            return
        if shown:
            self._last_spec = spec
        self._unseen = None if shown else path
        start = p.Start(spec=asdict(spec), path=str(path))
        self._begin(*self._ending_run(), (IDLE, start), *([then] if then else []))

    def _ending_run(self) -> list[tuple[frozenset[str], p.Command]]:
        return [(IN_RUN, p.Stop())] if self._engine.state in IN_RUN else []

    def _begin(self, *steps: tuple[frozenset[str], p.Command]) -> None:
        self._plan = deque(steps)
        self._advance()

    def _advance(self) -> None:
        if self._plan and not self._awaiting and self._engine.state in self._plan[0][0]:
            _, command = self._plan.popleft()
            self._awaiting = True
            self._engine.send(command)
        self.update_possible()

    def _drop_plan(self) -> None:
        self._plan.clear()
        self._awaiting = False
        self._stepping.stop()

    def _show_run(self) -> None:
        """Whoever moves the run wants to see it, not the recording looked at meanwhile."""
        recording = self._workspace.recording
        shown = recording.path if recording is not None else None
        if self.live_path is not None and shown != self.live_path:
            self._workspace.open(self.live_path)

    def _voice(self) -> str:
        try:
            return self._source.spec().voice
        except SpecError:  # a model can be loaded before there is a text or a voice
            return ""

    def _find_possible(self) -> frozenset[Move]:
        state = self._engine.state
        if state in IN_RUN and self._stepping.isActive():
            return self._possible_held()
        if self._awaiting or self._plan:
            return frozenset() if state in ("starting", "dead") else frozenset({"stop"})
        if state in IDLE:
            again: set[Move] = {"restart"} if self._last_spec is not None else set()
            return self._with_load((BEGINNING if self._can_run() else frozenset()) | again)
        return self._possible_held() if state == "held" else _POSSIBLE.get(state, frozenset())

    def _possible_held(self) -> frozenset[Move]:
        going_on = BEGINNING if self._can_run() else BEGINNING - {"start"}
        return self._with_load(going_on | {"stop", "restart"})

    def _with_load(self, moves: frozenset[Move]) -> frozenset[Move]:
        try:
            self._source.model()
        except SpecError:
            return moves
        return moves | {"load"}

    def _can_run(self) -> bool:
        try:
            self._source.spec()
        except SpecError:
            return False
        return True

    def _on_engine_state_changed(self, state: str, words: str) -> None:
        self._awaiting = False
        if state == "dead":
            self._drop_plan()
        if state not in IN_RUN:
            self.next_frame = None
        if state != "running":
            self._stepping.stop()
        self._advance()

    def _on_engine_event_received(self, event: object) -> None:
        if isinstance(event, p.State):
            self.next_frame = event.next_frame
        elif isinstance(event, p.Started):
            if Path(event.path) == self._unseen:
                return
            self.live_path = Path(event.path)
            self._workspace.open(event.path)
            self.run_started.emit(self.live_path)
        elif isinstance(event, (p.FrameAdded, p.Finished)):
            self._workspace.refresh()
        elif isinstance(event, p.Ready) and self._breaks:
            self._engine.send(p.Break(kinds=self._breaks))
        elif isinstance(event, p.Failed) and event.command not in ASIDE:
            self._drop_plan()
            self.update_possible()


_POSSIBLE: dict[str, frozenset[Move]] = {
    "loading": frozenset({"stop"}),
    "voicing": frozenset({"stop"}),
    "running": frozenset({"pause", "stop", "restart"}),
    "dead": frozenset({"restart"}),
}
