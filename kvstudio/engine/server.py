"""Answers the window's commands.

The reading thread does little: quick commands act on the gate at once, long ones are handed to one
worker thread, so a command always gets an answer, never a hang.
"""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from kvstudio.analysis.origins import ORDER
from kvstudio.engine import cards, pocket
from kvstudio.engine.failures import explain
from kvstudio.engine.gate import Gate
from kvstudio.engine.latest import Latest
from kvstudio.engine.live_checks import News
from kvstudio.engine.progress import Cancelled, ProgressReporter
from kvstudio.engine.session import Session
from kvstudio.recording import protocol as p
from kvstudio.recording.errors import KVStudioError, ProtocolError
from kvstudio.recording.rows import LogLine
from kvstudio.recording.spec import ModelSource, RunSpec


class Server:
    """One engine process as its window sees it.

    Args:
        out: takes a line a message.
        drain: waits until what was printed so far has come to `log`.
    """

    def __init__(self, out: TextIO, drain: Callable[[], None] = lambda: None) -> None:
        self._out = out
        self._writing = threading.Lock()
        self._reporter = ProgressReporter(self.emit)
        self.session = Session(self._reporter, drain)
        self._jobs: queue.SimpleQueue[tuple[p.Command, Callable[[], p.Event]] | None]
        self._jobs = queue.SimpleQueue()
        self._budgets = Latest(self._budget, "kvstudio budget")
        self._busy: str | None = None
        self._gate: Gate | None = None
        self._breaks: frozenset[str] = frozenset()
        self._awaited = ""  # why the run will hold before the next frame
        self._worker = threading.Thread(target=self._work, name="kvstudio worker", daemon=True)

    def serve(self, lines: Iterable[str]) -> None:
        """Handles commands until `shut_down` or the end of the input."""
        self._worker.start()
        self.emit(
            p.Ready(
                versions=cards.versions(),
                languages=pocket.languages(),
                voices=pocket.predefined_voices(),
                devices=cards.devices(),
                pid=os.getpid(),
            )
        )
        self._settled()
        for line in lines:
            try:
                command = p.parse_command(line)
            except (ProtocolError, TypeError) as error:
                self.emit(p.Failed(command="", message=str(error)))
                continue
            if isinstance(command, p.ShutDown):
                break
            self.handle(command)
        self._shut_down()

    def emit(self, event: p.Event) -> None:
        with self._writing:
            try:
                self._out.write(event.to_line())
                self._out.flush()
            except (BrokenPipeError, ValueError):
                os._exit(0)  # the window is gone; nobody will ever read the rest

    def log(self, stream: str, text: str) -> None:
        self.emit(p.Log(stream=stream, text=text))
        self.session.log(LogLine(time.time(), stream, text))

    def handle(self, command: p.Command) -> None:
        """Does a command or says why not."""
        try:
            self._handle(command)
        except KVStudioError as error:
            self.emit(p.Failed(command=command.name, message=str(error)))
        except Exception as error:  # noqa: BLE001 -- the engine answers every command
            message, detail = explain(error, command.name.replace("_", " "))
            self.emit(p.Failed(command=command.name, message=message, detail=detail))

    # ---- commands -----------------------------------------------------------------------------

    def _handle(self, command: p.Command) -> None:
        if isinstance(command, p.Load):
            source = RunSpec.from_dict({"model": command.model}).model
            self._enqueue(command, lambda: self._load(source))
        elif isinstance(command, p.Voice):
            self._require_model()
            self._enqueue(command, lambda: self._make_voice(command.voice))
        elif isinstance(command, p.Start):
            spec = RunSpec.from_dict(command.spec)
            spec.require_runnable()
            self._enqueue(command, lambda: self._start(spec, Path(command.path)))
        elif isinstance(command, p.Budget):
            self._require_model()
            self._budgets.ask(command)
        elif isinstance(command, p.Stop):
            self._stop()
        elif isinstance(command, p.Break):
            self._break_at(frozenset(command.kinds))
        else:
            self._move(command)

    def _move(self, command: p.Command) -> None:
        gate = self._gate
        if gate is None or gate.over:
            raise KVStudioError(f"there is no run to {command.name}; start one first")
        self._awaited = ""
        if isinstance(command, p.Step):
            gate.step(command.count)
        elif isinstance(command, p.Run):
            gate.run(command.until, to_finding=command.to_finding)
        elif isinstance(command, p.Pause):
            gate.pause()
            if (frame := gate.held) is not None:  # it changed nothing, which is an answer too
                self._on_held(frame)

    def _break_at(self, kinds: frozenset[str]) -> None:
        unknown = sorted(kinds.difference(ORDER))
        if unknown:
            raise KVStudioError(f"no finding is of the kind {', '.join(unknown)}")
        self._breaks = kinds
        if (gate := self._gate) is not None:
            gate.break_at(kinds)
        self.emit(p.Breaking(kinds=sorted(kinds)))

    def _stop(self) -> None:
        if self._busy is None:
            raise KVStudioError("there is nothing to stop")
        # First the one, then the other: a run that begins meanwhile looks at them in turn.
        self._reporter.cancel()
        if self._gate is not None:
            self._gate.stop()

    def _enqueue(self, command: p.Command, job: Callable[[], p.Event]) -> None:
        if self._busy is not None:
            raise KVStudioError(f"the engine is busy {self._busy}; stop that first")
        self._busy = _BUSY_WORDS[type(command)]
        self._reporter.begin()
        self._jobs.put((command, job))

    def _require_model(self) -> None:
        if self.session.tts is None:
            raise KVStudioError("no model is loaded; load one first")

    def _budget(self, command: p.Budget) -> None:
        """On a thread of its own: pocket-tts takes seconds to split a long text."""
        try:
            chunks = self.session.budget(command.text, command.max_tokens)
        except Exception as error:  # noqa: BLE001 -- the engine answers every command
            message, detail = explain(error, "working out the budget")
            self.emit(p.Failed(command=command.name, message=message, detail=detail))
            return
        self.emit(p.Budgeted(chunks=chunks))

    # ---- jobs, on the worker thread -------------------------------------------------------------

    def _work(self) -> None:
        while (entry := self._jobs.get()) is not None:
            outcome = self._outcome(*entry)
            # The next command may come as soon as this one is answered.
            self._busy = self._gate = None
            self.emit(outcome)
            self._settled()

    def _outcome(self, command: p.Command, job: Callable[[], p.Event]) -> p.Event:
        try:
            return job()
        except Cancelled:
            return p.Failed(command=command.name, message=f"{command.name} was cancelled")
        except BaseException as error:  # noqa: BLE001 -- the engine answers every command
            message, detail = explain(error, _FAILED_WORDS[type(command)])
            return p.Failed(command=command.name, message=message, detail=detail)

    def _load(self, source: ModelSource) -> p.Event:
        self.emit(p.State("loading", f"loading {source.title}"))
        return p.Loaded(card=self.session.load(source))

    def _make_voice(self, voice: str) -> p.Event:
        self.emit(p.State("voicing", f"making voice {voice}"))
        return p.Voiced(card=self.session.make_voice(voice))

    def _start(self, spec: RunSpec, path: Path) -> p.Event:
        if not self.session.is_loaded(spec):
            self.emit(self._load(spec.model))
        if not self.session.has_voice(spec):
            self.emit(self._make_voice(spec.voice))
        gate = self._gate = Gate(self._on_held, self._on_released)
        gate.break_at(self._breaks)
        self._reporter.check()
        writer = self.session.open_recording(spec, path)
        self.emit(p.Started(path=str(path)))
        self.emit(p.State("running", "splitting the text", 0))
        outcome = self.session.run(
            spec, writer, gate, self._on_frame, lambda news: self._on_news(news, gate)
        )
        if outcome.status == "failed":
            self.emit(p.Failed(command="start", message=outcome.reason, detail=outcome.detail))
        return p.Finished(status=outcome.status, reason=outcome.reason, path=str(path))

    def _on_frame(self, frame: int) -> None:
        self.emit(p.FrameAdded(frame=frame))

    def _on_news(self, news: News, gate: Gate) -> None:
        kinds = {finding.kind for finding in news.findings}
        awaited = gate.found(kinds, {finding.kind for finding in news.seen})
        broken_at = [each for each in news.seen if each.kind in awaited - kinds]
        for each in (*news.findings, *broken_at):
            self.emit(p.Found(kind=each.kind, frame=each.frame, message=each.message))
        self._awaited = ", ".join(sorted(awaited))

    def _on_held(self, frame: int) -> None:
        why = f": {self._awaited}" if self._awaited else ""
        self.emit(p.State("held", f"held before frame {frame}{why}", frame))

    def _on_released(self, frame: int) -> None:
        self._awaited = ""
        self.emit(p.State("running", f"running frame {frame}", frame))

    def _settled(self) -> None:
        """Says what the engine can do now that nothing is going on."""
        if self.session.tts is None:
            self.emit(p.State("empty", "no model loaded"))
        elif self.session.voice is None:
            self.emit(p.State("loaded", "model loaded, no voice"))
        else:
            self.emit(p.State("ready", "ready"))

    def _shut_down(self) -> None:
        self._reporter.cancel()
        if self._gate is not None:
            self._gate.stop()
        self._jobs.put(None)
        self._worker.join(SHUT_DOWN_S)


SHUT_DOWN_S = 3.0
_FAILED_WORDS: dict[type[p.Command], str] = {
    p.Load: "loading the model",
    p.Voice: "making the voice",
    p.Start: "starting the run",
}
_BUSY_WORDS: dict[type[p.Command], str] = {
    p.Load: "loading the model",
    p.Voice: "making the voice",
    p.Start: "with a run",
}
