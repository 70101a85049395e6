"""Checks a closed recording in a thread of its own, with a connection of its own."""

from __future__ import annotations

import importlib
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.analysis.frame_view import FrameView
    from kvstudio.analysis.report import Report

# Loaded by the thread that needs it: what the checks import would slow the window's start.
CHECKER = "kvstudio.analysis.checker"
CLOSING = "kvstudio.analysis.report"


class RecordingCheck(QObject):
    """Runs every check on a file.

    Signals:
        ended: (self, report) an `analysis.report.Report`, or why there is none, in words.
    """

    ended = Signal(object, object)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self._leaving = threading.Event()
        # Not a QThread, which takes the window with it if it is deleted while it runs.
        self._thread = threading.Thread(target=self._run, name="recording check", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def leave(self) -> None:
        """Ends before the next frame, without a word."""
        self._leaving.set()

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
            # The window may be closed, and this object deleted, by now.
            with suppress(RuntimeError):
                if not self._leaving.is_set():
                    self.ended.emit(self, outcome)

    def _report(self, recording: Recording) -> Report:
        checker = importlib.import_module(CHECKER)
        looking = checker.Checker(recording, (self._make_stop(), *checker.CHECKS))
        looking.advance()
        count = len(checker.CHECKS)
        report: Report = importlib.import_module(CLOSING).report_of(
            recording, looking.findings(), count
        )
        return report

    def _make_stop(self) -> type[Any]:
        """A check that finds nothing, and stops all of them when the thread is to leave."""
        leaving = self._leaving

        class Stop:
            def look(self, view: FrameView) -> None:
                if leaving.is_set():
                    raise _Interrupted

            def findings(self, recording: Recording) -> list[Any]:
                return []

        return Stop


class _Interrupted(Exception):
    """The thread is to leave."""
