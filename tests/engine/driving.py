"""An engine process as the window has it: commands in, events out, all of them kept."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TypeVar

from kvstudio.recording import protocol as p
from kvstudio.recording.errors import ProtocolError
from kvstudio.recording.spec import RunSpec

EventT = TypeVar("EventT", bound=p.Event)
PATIENCE_S = 60
AFTER_THE_ANSWER = ("empty", "loaded", "ready")


class EngineProcess:
    """Starts an engine and talks to it; leaving kills it.

    Attributes:
        events: every message so far, in order; `cursor` is where the next wait begins.
        corrupted: lines on the protocol's pipe that are no message.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.events: list[p.Event] = []
        self.corrupted: list[str] = []
        self.stderr = ""
        self.cursor = 0
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environment is None else dict(environment),
        )
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout,)),
            threading.Thread(target=self._read_errors, args=(self.process.stderr,)),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "EngineProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.wait()

    # ---- talking ------------------------------------------------------------------------------

    def send(self, *commands: p.Command) -> None:
        for command in commands:
            self.send_raw(command.to_line().encode())

    def send_raw(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self) -> int:
        """The exit code; negative for a signal."""
        code = self.process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue
        return code

    def kill(self, number: int = signal.SIGKILL) -> int:
        self.process.send_signal(number)
        return self.wait()

    # ---- listening ----------------------------------------------------------------------------

    def next(
        self, kind: type[EventT], where: Callable[[EventT], bool] = lambda event: True
    ) -> EventT:
        """The next event of a kind, later than those that were waited for before."""
        with self._news:
            while True:
                for place in range(self.cursor, len(self.events)):
                    event = self.events[place]
                    if isinstance(event, kind) and where(event):
                        self.cursor = place + 1
                        return event
                if not self._news.wait(PATIENCE_S):
                    raise AssertionError(f"no {kind.__name__} after {self.events[self.cursor :]}")

    def state(self, *states: str) -> p.State:
        return self.next(p.State, lambda event: event.state in states)

    def error(self, command: str) -> str:
        """The message of the next error about a command."""
        return self.next(p.Failed, lambda event: event.command == command).message

    def refusal(self, command: p.Command) -> str:
        """What is said when a command is given that cannot be done now."""
        self.send(command)
        return self.error(command.name)

    def settle(self) -> str:
        return self.state(*AFTER_THE_ANSWER).state

    def begin(self, spec: RunSpec, path: Path) -> None:
        """Starts a run and waits until it is held before the prefill."""
        self.send(start(spec, path))
        self.next(p.Started)
        assert self.state("held").next_frame == 1

    def finish(self) -> p.Finished:
        """Stops whatever run there is."""
        self.send(p.Stop())
        finished = self.next(p.Finished)
        self.settle()
        return finished

    def frames(self) -> list[int]:
        """Every frame that was reported, of all runs."""
        return [event.frame for event in self.events if isinstance(event, p.FrameAdded)]

    # ---- private ------------------------------------------------------------------------------

    def _read(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            text = line.decode("utf-8", "replace")
            with self._news:
                try:
                    self.events.append(p.parse_event(text))
                except ProtocolError:
                    self.corrupted.append(text)
                self._news.notify_all()

    def _read_errors(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            self.stderr += line.decode("utf-8", "replace")


def engine(environment: Mapping[str, str] | None = None) -> EngineProcess:
    """The engine as a user of this environment gets it."""
    return EngineProcess([sys.executable, "-m", "kvstudio.engine"], environment)


def script(name: str, *arguments: str) -> list[str]:
    """The command that runs a script of this folder."""
    return [sys.executable, str(Path(__file__).with_name(name)), *arguments]


def start(spec: RunSpec, path: Path) -> p.Start:
    return p.Start(spec=json.loads(spec.to_json()), path=str(path))


def load_demo() -> p.Load:
    return p.Load(model={"kind": "demo"})
