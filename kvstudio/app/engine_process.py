"""One life of the engine process: lines out, messages in, and how it ended."""

import signal
from collections.abc import Callable

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from kvstudio.recording.interpreter import EngineCommand

LINE_LIMIT = 64 * 1024 * 1024
POLITE_MS = 2000
KILLED_MS = 1000
LAST_LINES = 12

SIGNAL_WORDS = {
    "SIGKILL": "killed by SIGKILL, maybe because memory ran out",
    "SIGSEGV": "crashed with SIGSEGV, a wrong memory access in native code",
    "SIGBUS": "crashed with SIGBUS, a file or memory it used went away",
    "SIGABRT": "aborted (SIGABRT) by native code",
    "SIGILL": "crashed with SIGILL: this processor lacks an instruction it used",
    "SIGTERM": "ended by SIGTERM",
}


class EngineProcess(QObject):
    """Starts the process at once.

    Signals:
        line_received: one line of its standard output, without the line end.
        printed: one line of its standard error.
        ended: how, in words. Exactly once, after the last line.
    """

    line_received = Signal(str)
    printed = Signal(str)
    ended = Signal(str)

    def __init__(self, command: EngineCommand, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cleanup: Callable[[], None] | None = command.cleanup
        self.last_printed: list[str] = []
        self._process = QProcess(self)
        self._patience = QTimer(self, singleShot=True, interval=POLITE_MS)
        self._patience.timeout.connect(self.kill)
        self._output = _Lines(self.line_received.emit)
        self._errors = _Lines(self._on_error_line)
        environment = QProcessEnvironment()
        for name, value in command.environment.items():
            environment.insert(name, value)
        self._process.setProcessEnvironment(environment)
        self._process.readyReadStandardOutput.connect(self._on_process_output_ready)
        self._process.readyReadStandardError.connect(self._on_process_errors_ready)
        self._process.finished.connect(self._on_process_finished)
        self._process.errorOccurred.connect(self._on_process_error_occurred)
        self._process.start(command.argv[0], command.argv[1:])

    @property
    def alive(self) -> bool:
        return self._process.state() != QProcess.ProcessState.NotRunning

    @property
    def pid(self) -> int:
        return int(self._process.processId())

    def write(self, line: str) -> None:
        self._process.write(line.encode("utf-8", "replace"))

    def end(self, last_words: str) -> None:
        """Says `last_words`, closes its input, and kills it if it is still there in 2 s."""
        if self.alive:
            self.write(last_words)
            self._process.closeWriteChannel()
            self._patience.start()

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        """Blocks until it is gone, killing it if need be; for when no window is left."""
        if self.alive and not self._process.waitForFinished(POLITE_MS):
            self._process.kill()
            self._process.waitForFinished(KILLED_MS)
        self._clean()

    # ---- private ------------------------------------------------------------------------------

    def _clean(self) -> None:
        if self._cleanup is not None:
            self._cleanup()
            self._cleanup = None

    def _on_process_output_ready(self) -> None:
        self._output.take(bytes(self._process.readAllStandardOutput().data()))

    def _on_process_errors_ready(self) -> None:
        self._errors.take(bytes(self._process.readAllStandardError().data()))

    def _on_error_line(self, line: str) -> None:
        self.last_printed = [*self.last_printed, line][-LAST_LINES:]
        self.printed.emit(line)

    def _on_process_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._on_process_output_ready()
        self._on_process_errors_ready()
        self._output.close()
        self._errors.close()
        self._clean()
        self.ended.emit(how_it_ended(code, status == QProcess.ExitStatus.CrashExit))

    def _on_process_error_occurred(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._clean()
            self.ended.emit(f"it could not be started: {self._process.errorString()}")


def how_it_ended(code: int, crashed: bool) -> str:
    """The end of a process in words; `code` is the signal's number if it crashed."""
    if not crashed:
        return f"it exited with code {code}"
    try:
        name = signal.Signals(code).name
    except ValueError:
        return f"it crashed with code {code & 0xFFFFFFFF:#x}"
    return SIGNAL_WORDS.get(name, f"ended by signal {name}")


class _Lines:
    """Cuts a stream of bytes into lines of text."""

    def __init__(self, emit: Callable[[str], object]) -> None:
        self._emit = emit
        self._rest = bytearray()

    def take(self, piece: bytes) -> None:
        self._rest += piece
        if b"\n" in piece or len(self._rest) > LINE_LIMIT:
            *lines, rest = self._rest.split(b"\n")
            self._rest = bytearray() if len(rest) > LINE_LIMIT else rest
            for line in lines:
                self._say(line)

    def close(self) -> None:
        if self._rest:
            self._say(self._rest)
            self._rest = bytearray()

    def _say(self, line: bytes | bytearray) -> None:
        self._emit(line.decode("utf-8", "replace").rstrip("\r"))
