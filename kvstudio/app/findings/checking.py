"""Checks a closed recording in a thread of its own, with a connection of its own."""

from __future__ import annotations

import importlib
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.analysis.report import Report

# Loaded by the thread that needs it: what the checks import would slow the window's start.
CHECKER = "kvstudio.analysis.checker"


class RecordingCheck(QObject):
    """Runs every check on a file.

    Signals:
        ended: (self, report) an `analysis.report.Report`, or why there is none, in words.
    """

    ended = Signal(object, object)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._leaving = threading.Event()
        # Not a QThread, which takes the window with it if it is deleted while it runs.
        self._thread = threading.Thread(target=self._run, name="recording check", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def leave(self) -> None:
        """Ends before the next frame, without a word."""
        self._leaving.set()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def wait(self) -> None:
        self._thread.join()

    # ---- in the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        outcome: Report | str = "a check itself went wrong; the terminal has the details"
        try:
            with Recording.open(self.path) as recording:
                outcome = self._report(recording)
        except RecordingError as error:
            outcome = str(error)
        except _Interrupted:
            pass
        finally:
            with suppress(RuntimeError):  # Qt is gone already
                if not self._leaving.is_set():
                    self.ended.emit(self, outcome)

    def _report(self, recording: Recording) -> Report:
        looking = importlib.import_module(CHECKER).Checker(recording)
        looking.advance(self._leaving.is_set)
        if self._leaving.is_set():
            raise _Interrupted
        report: Report = looking.report()
        return report


class _Interrupted(Exception):
    """The thread is to leave."""
