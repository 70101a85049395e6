"""An engine without process and torch: it answers commands and writes a made-up recording.

Commands are done one after another by the event loop, as a real engine answers later and never at
once.
"""

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from kvstudio.app.engine_client import STATE_WORDS, Engine
from kvstudio.recording import protocol as p
from kvstudio.recording.spec import RunSpec
from tests.fakes import VERSIONS, FakeRun

if TYPE_CHECKING:
    from kvstudio.analysis.finding import Finding

MODEL_CARD: dict[str, Any] = {
    "layers": 2, "heads": 2, "dim": 8, "mimi_layers": 1, "parameters": 2_174_446,
    "dtype": "float32", "device": "cpu", "quantized": "", "slot_bytes": 256,
    "temperature": 0.7, "eos_threshold": -4.0, "decode_steps": 1, "max_tokens": 50,
}  # fmt: skip
READY = p.Ready(
    versions=VERSIONS,
    languages=["english", "french_24l"],
    voices=["alba", "marius"],
    devices=["cpu", "cuda:0"],
    pid=4711,
)


class FakeEngine(QObject):
    """Obeys `Engine`.

    Attributes:
        commands: everything it was told, in order.
        frames: decode steps of a run that is not stopped.
        failing: a command's name: how it fails, once.
        stuck_loading: stay in `loading` until stopped.
        findings: what its checks will find, each after its frame.
    """

    event_received = Signal(object)
    state_changed = Signal(str, str)
    died = Signal(str)

    def __init__(self, frames: int = 8) -> None:
        super().__init__()
        self.frames = frames
        self.commands: list[p.Command] = []
        self.failing: dict[str, p.Failed] = {}
        self.stuck_loading = False
        self.findings: list[Finding] = []
        self.last_printed = ""
        self.started_with: list[str | None] = []
        self.was_shut_down = False
        self._state = "starting"
        self._run: FakeRun | None = None
        self._spec: RunSpec | None = None
        self._model: dict[str, Any] | None = None
        self._voice = ""
        self._allowed = 0
        self._to_finding = False
        self._breaks: set[str] = set()
        self._inbox: deque[p.Command] = deque()
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._on_turn)

    @property
    def state(self) -> str:
        return self._state

    @property
    def names(self) -> list[str]:
        """The names of the commands, without the budget's, which come when they like."""
        return [command.name for command in self.commands if command.name != "budget"]

    def start(self, python: str | None = None) -> None:
        self.started_with.append(python)
        self._enter("starting")
        QTimer.singleShot(0, self._on_up)

    def send(self, command: p.Command) -> None:
        self.commands.append(command)
        self._inbox.append(command)
        self._turn.start()

    def restart(self) -> None:
        self.start(self.started_with[-1] if self.started_with else None)

    def shut_down(self) -> None:
        self.was_shut_down = True
        self._end_run("stopped", "stopped")
        self._enter("dead")

    def die(self, words: str = "The engine ended: killed by SIGKILL.", printed: str = "") -> None:
        """The process is gone, in the middle of whatever it did."""
        self.last_printed = printed
        self._inbox.clear()
        self._run, self._model, self._voice, self._allowed = None, None, "", 0
        self._enter("dead")
        self.died.emit(words)

    def tell(self, event: p.Event) -> None:
        self.event_received.emit(event)

    # ---- private ------------------------------------------------------------------------------

    def _enter(self, state: str, words: str = "", next_frame: int | None = None) -> None:
        self._state = state
        self.tell(p.State(state, words, next_frame))
        self.state_changed.emit(state, words or STATE_WORDS[state])

    def _on_up(self) -> None:
        self.tell(READY)
        self._settle()

    def _settle(self) -> None:
        self._enter("ready" if self._voice else "loaded" if self._model is not None else "empty")

    def _on_turn(self) -> None:
        if self._inbox:
            command = self._inbox.popleft()
            if command.name in self.failing:
                self.tell(self.failing.pop(command.name))
                self._settle()
            else:
                getattr(self, f"_do_{command.name}")(command)
        elif self._allowed > 0:
            self._make_frame()
        if self._inbox or self._allowed > 0:
            self._turn.start()

    def _do_load(self, command: p.Load) -> None:
        self._enter("loading", "loading demo")
        self.tell(p.Progress("weights", 4_100_000, 8_700_000, "bytes", 12.0))
        if not self.stuck_loading:
            self._load(command.model)
            self._settle()

    def _load(self, model: dict[str, Any]) -> None:
        source = RunSpec.from_dict({"model": model}).model
        self._model, self._voice = model, ""
        self.tell(p.Loaded({**MODEL_CARD, "name": source.title, "kind": source.kind}))

    def _do_voice(self, command: p.Voice) -> None:
        self._enter("voicing", f"making voice {command.voice}")
        self._make_voice(command.voice)
        self._settle()

    def _make_voice(self, voice: str) -> None:
        self._voice = voice
        self.tell(p.Voiced({"source": voice, "slots": 5, "seconds": 0.4, "note": ""}))

    def _do_budget(self, command: p.Budget) -> None:
        sums = {"current_end": 5, "token_count": 6, "max_gen_len": 12, "required_len": 23}
        self.tell(p.Budgeted([{"text": command.text, "bytes": 23 * 256, **sums}]))

    def _do_start(self, command: p.Start) -> None:
        spec = RunSpec.from_dict(command.spec)
        if self._model != command.spec["model"]:
            self._enter("loading", "loading demo")
            if self.stuck_loading:
                return
            self._load(command.spec["model"])
        self._make_voice(spec.voice)
        self._spec, self._run = spec, FakeRun(Path(command.path), spec=spec)
        self.tell(p.Started(command.path))
        self._run.begin_chunk(spec.text)
        self.tell(p.FrameAdded(0))
        self._hold()

    def _hold(self, why: str = "") -> None:
        assert self._run is not None
        frame = self._run.frame + 1
        words = f"held before frame {frame}"
        self._enter("held", f"{words}: {why}" if why else words, frame)

    def _do_step(self, command: p.Step) -> None:
        self._allow(command.count)

    def _do_run(self, command: p.Run) -> None:
        assert self._run is not None
        until = command.until
        self._allow(10_000 if until is None else until - self._run.frame)
        self._to_finding = command.to_finding

    def _do_break(self, command: p.Break) -> None:
        self._breaks = set(command.kinds)
        self.tell(p.Breaking(command.kinds))

    def _allow(self, frames: int) -> None:
        assert self._run is not None
        self._allowed, self._to_finding = frames, False
        self._enter("running", "running", self._run.frame + 1)

    def _do_pause(self, command: p.Pause) -> None:
        self._allowed = 0
        if self._run is not None:
            self._hold()
        else:
            self.tell(p.Failed("pause", "there is no run to pause"))

    def _do_stop(self, command: p.Stop) -> None:
        if self._state == "loading":
            self.tell(p.Failed("load", "load was cancelled"))
        elif self._run is not None:
            self._end_run("stopped", f"stopped before frame {self._run.frame + 1}")
        self._settle()

    def _make_frame(self) -> None:
        assert self._run is not None
        self._allowed -= 1
        if self._run.frame == 0:
            self._run.prefill()
        else:
            self._run.decode(eos=self._run.step == self.frames - 2)
        new = [each for each in self.findings if each.frame == self._run.frame]
        if new:
            known = [each for each in self.findings if (each.frame or 0) <= self._run.frame]
            self._run.writer.set_findings([each.to_row() for each in known])
        self.tell(p.FrameAdded(self._run.frame))
        for each in new:
            self.tell(p.Found(each.kind, each.frame, each.message))
        kinds = {each.kind for each in new}
        awaited = sorted(kinds if self._to_finding else kinds & self._breaks)
        if awaited:
            self._allowed = 0
        if self._run.step == self.frames - 1:
            self._end_run("finished", "ended by EOS")
            self._settle()
        elif self._allowed == 0:
            self._hold(", ".join(awaited))

    def _end_run(self, status: str, reason: str) -> None:
        if self._run is not None:
            self._run.writer.finish(status, reason)
            self.tell(p.Finished(status, reason, str(self._run.path)))
        self._run, self._allowed = None, 0


def as_engine(fake: FakeEngine) -> Engine:
    """Where mypy checks that the fake obeys the interface."""
    return fake
