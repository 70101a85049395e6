"""Copies an open recording, even while it grows, without stopping the window."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from kvstudio.recording.errors import RecordingError
from kvstudio.recording.opening import connect

PAGES_AT_A_TIME = 512


class RecordingSaver(QThread):
    """Copies `source` to `target`, replacing it whole at the end or not at all.

    Signals:
        progressed: (done, total) pages.
        saved: the copy is complete.
        failed: why not, in words; nothing was left behind.
    """

    progressed = Signal(int, int)
    saved = Signal()
    failed = Signal(str)

    def __init__(self, source: Path, target: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source, self.target = source, target

    def run(self) -> None:
        """In the thread: copy, then put the copy in its place."""
        partial = self.target.with_name(f".{self.target.name}.part")
        try:
            _require_other_file(self.source, self.target)
            partial.unlink(missing_ok=True)
            self._copy(partial)
            os.replace(partial, self.target)
        except (OSError, sqlite3.Error, RecordingError) as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            self.failed.emit(_why(error, self.target))
        else:
            self.saved.emit()

    def _copy(self, partial: Path) -> None:
        with (
            closing(connect(self.source)) as source,
            closing(sqlite3.connect(partial, isolation_level=None)) as target,
        ):
            # One read transaction: what a run adds meanwhile does not start the copy afresh.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM meta").fetchone()
            source.backup(target, pages=PAGES_AT_A_TIME, progress=self._on_backup_progressed)
            target.execute("PRAGMA journal_mode = DELETE")

    def _on_backup_progressed(self, status: int, remaining: int, total: int) -> None:
        self.progressed.emit(total - remaining, total)


def _require_other_file(source: Path, target: Path) -> None:
    if target.exists() and target.samefile(source):
        raise OSError(f"{target.name} is the recording that is open; choose another name")


def _why(error: Exception, target: Path) -> str:
    words = str(error)
    if isinstance(error, OSError) and error.strerror:
        words = error.strerror.lower()
    elif "full" in words:
        words = "the disk is full"
    elif "unable to open" in words or "readonly" in words:
        words = f"no permission to write in {target.parent}"
    return f"The recording could not be saved to {target}: {words}."
