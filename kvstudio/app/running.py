"""The window's life from the application's making to its end; see `start`."""

import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import cast

import shiboken6
from PySide6.QtCore import QSize, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication

import kvstudio
from kvstudio.app.engine_client import EngineClient
from kvstudio.app.main_window import MainWindow
from kvstudio.app.settings import Settings
from kvstudio.app.theme import Mode, apply_theme

SIGNALS = (signal.SIGINT, signal.SIGTERM)
TITLE_BAR_HEIGHT = 40  # at most; the window system tells it only once the window is there


def run_window(path: Path | None, demo: bool, python: str | None) -> int:
    """Like `start.run`, past the front door."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("KVStudio")
    app.setApplicationVersion(kvstudio.__version__)
    app.setDesktopFileName("kvstudio")
    settings = Settings()
    apply_theme(app, cast("Mode", settings.theme))
    engine = EngineClient()
    window = MainWindow(engine, settings)
    _show_unexpected_errors(window)
    signals = _ClosingSignals(window.close)
    if path is not None:
        window.open_recording(path)
    if demo:
        window.begin_demo()
    show_whole(window, settings)
    # After the first paint: the engine's imports would take the processor from it.
    QTimer.singleShot(0, window, lambda: engine.start(python))
    code = app.exec()
    signals.close()
    sys.excepthook = sys.__excepthook__
    # The window is closed, so nobody sees this wait. Whoever closes a recording last folds it
    # into one file: first the engine, then the reader.
    engine.wait_closed()
    window.workspace.refresh()
    window.workspace.close()
    # WORKAROUND: a pyqtgraph view that is alive when the interpreter exits crashes it.
    shiboken6.delete(window)
    shiboken6.delete(app)
    return code


def show_whole(window: MainWindow, settings: Settings) -> None:
    """Where it was last; the first time maximized if its status line would be off the screen."""
    room = window.screen().availableSize()
    needed = window.size() + QSize(0, TITLE_BAR_HEIGHT)
    if settings.geometry.isEmpty() and needed.boundedTo(room) != needed:
        window.showMaximized()
    else:
        window.show()


def _show_unexpected_errors(window: MainWindow) -> None:
    """An error of our own is shown and the window goes on."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        detail = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(detail)
        words = f"Something in KVStudio itself went wrong: {kind.__name__}: {error}"
        window.banner.show_message(words, detail=detail)
        window.log.add("error", detail)

    sys.excepthook = show


class _ClosingSignals:
    """Ctrl+C and a polite kill close the window, as its button does.

    Python runs signal handlers between bytecodes only, and Qt's loop runs none: a byte in a socket
    wakes it.
    """

    def __init__(self, close: Callable[[], object]) -> None:
        self._ours, theirs = socket.socketpair()
        self._theirs = theirs
        for end in (self._ours, theirs):
            end.setblocking(False)
        self._close = close
        self._before_fd = signal.set_wakeup_fd(theirs.fileno())
        self._before = {each: signal.signal(each, self._on_signal) for each in SIGNALS}
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read)
        self._notifier.activated.connect(self._on_notifier_activated)

    def close(self) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)
        signal.set_wakeup_fd(self._before_fd)
        self._notifier.setEnabled(False)
        for end in (self._ours, self._theirs):
            end.close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Nothing: it may have interrupted a paint. The notifier closes, in its turn."""

    def _on_notifier_activated(self) -> None:
        self._ours.recv(16)
        self._close()
