"""The window's end of the engine: the only place in `app` that knows a process exists."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from kvstudio.app.engine_process import EngineProcess
from kvstudio.recording.errors import ProtocolError, SpecError
from kvstudio.recording.interpreter import EngineCommand, engine_command
from kvstudio.recording.protocol import (
    ENGINE_STATES,
    Command,
    Event,
    Failed,
    Log,
    ShutDown,
    State,
    parse_event,
)

STATE_WORDS = {
    "starting": "the engine is starting",
    "empty": "no model loaded",
    "loading": "loading the model",
    "loaded": "model loaded, no voice yet",
    "voicing": "making the voice state",
    "ready": "ready to run",
    "held": "held between frames",
    "running": "running",
    "dead": "the engine has ended",
}


class Engine(Protocol):
    """What the window asks of an engine; the client below is one, and so is a test's fake."""

    @property
    def event_received(self) -> SignalInstance:
        """(Event,) one of `protocol.EVENTS`."""

    @property
    def state_changed(self) -> SignalInstance:
        """(state, words): one of ENGINE_STATES and a phrase for the status bar."""

    @property
    def died(self) -> SignalInstance:
        """(words,) a sentence that says how the engine ended, unasked."""

    @property
    def state(self) -> str: ...

    @property
    def last_printed(self) -> str:
        """The last lines that the engine wrote to standard error."""

    def start(self, python: str | None = None) -> None: ...

    def send(self, command: Command) -> None: ...

    def restart(self) -> None: ...

    def shut_down(self) -> None: ...


class EngineClient(QObject):
    """Owns the engine process and speaks the protocol with it.

    Signals:
        event_received, state_changed, died: see `Engine`.
    """

    event_received = Signal(object)
    state_changed = Signal(str, str)
    died = Signal(str)

    def __init__(
        self,
        parent: QObject | None = None,
        command: Callable[[str | None], EngineCommand] = engine_command,
    ) -> None:
        super().__init__(parent)
        self._command = command
        self._python: str | None = None
        self._process: EngineProcess | None = None
        self._expected_end = False
        self._restarting = False
        self._state = "starting"

    @property
    def state(self) -> str:
        return self._state

    @property
    def last_printed(self) -> str:
        return "\n".join(self._process.last_printed) if self._process is not None else ""

    @property
    def pid(self) -> int:
        """The process's id; 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    def start(self, python: str | None = None) -> None:
        """Starts the engine in `python` (default: this interpreter); returns at once."""
        self._python = python
        self._forget_process()
        self._expected_end = False
        self._enter("starting", STATE_WORDS["starting"])
        try:
            command = self._command(python)
        except (SpecError, OSError) as error:
            self._die(f"The engine could not be started: {error}.")
            return
        self._process = process = EngineProcess(command, self)
        process.line_received.connect(self._on_process_line_received)
        process.printed.connect(self._on_process_printed)
        process.ended.connect(self._on_process_ended)

    def send(self, command: Command) -> None:
        if self._process is not None and self._process.alive:
            self._process.write(command.to_line())
        else:
            sentence = "the engine is not running; restart it"
            self.event_received.emit(Failed(command=command.name, message=sentence))

    def restart(self) -> None:
        """Ends the process if it lives, whatever it does, and starts a new one."""
        if self._process is not None and self._process.alive:
            self._expected_end = self._restarting = True
            self._process.kill()
        else:
            self.start(self._python)

    def shut_down(self) -> None:
        """Asks the engine to end, and sees to it that it has in 2 s; returns at once."""
        self._expected_end = True
        self._restarting = False
        if self._process is None:
            return
        if self._state == "starting":  # it imports torch, hears nothing and has nothing to lose
            self._process.kill()
        else:
            self._process.end(ShutDown().to_line())

    def wait_closed(self) -> None:
        """Blocks until the process is gone; call it when the window is."""
        self.shut_down()
        if self._process is not None:
            self._process.wait()

    # ---- private ------------------------------------------------------------------------------

    def _enter(self, state: str, words: str) -> None:
        self._state = state
        self.state_changed.emit(state, words or STATE_WORDS[state])

    def _die(self, sentence: str) -> None:
        self._enter("dead", STATE_WORDS["dead"])
        self.died.emit(sentence)

    def _on_process_line_received(self, line: str) -> None:
        if not line.strip():
            return
        try:
            event = parse_event(line)
        except (ProtocolError, TypeError) as error:
            # Shown, not raised: a library that writes to standard output must not end the run.
            self.event_received.emit(Log(stream="protocol", text=f"not understood: {error}"))
            return
        self._take(event)

    def _take(self, event: Event) -> None:
        known = isinstance(event, State) and event.state in ENGINE_STATES
        if isinstance(event, State) and known:
            self._state = event.state
        self.event_received.emit(event)
        if isinstance(event, State) and known:
            self._enter(event.state, event.words)

    def _on_process_printed(self, line: str) -> None:
        self.event_received.emit(Log(stream="stderr", text=line))

    def _on_process_ended(self, how: str) -> None:
        if self._restarting:
            self._restarting = False
            self.start(self._python)
        elif self._expected_end:
            self._enter("dead", STATE_WORDS["dead"])
        else:
            self._die(f"The engine ended: {how}.")

    def _forget_process(self) -> None:
        if self._process is not None:
            self._process.deleteLater()
            self._process = None
