"""Where runs are recorded until the user saves them elsewhere: a folder of the user's own."""

import re
import sqlite3
from collections.abc import Container
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

import platformdirs

from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import RunSpec

KEPT_RECORDINGS = 20
NAME_LENGTH = 32
# A run that was never stepped holds the voice prefill alone.
FEWEST_FRAMES = 2
COMPANIONS = ("", "-wal", "-shm")


def default_folder() -> Path:
    return platformdirs.user_data_path("kvstudio", appauthor=False) / "recordings"


class RecordingsFolder:
    """Names new recordings and clears old ones away.

    Args:
        folder: made when the first recording is.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def new_path(self, spec: RunSpec, now: datetime | None = None) -> Path:
        """A free name such as `2026-12-02_10-15-30_demo_low.kvrec`.

        Raises:
            OSError: the folder cannot be made.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        when = f"{now or datetime.now():%Y-%m-%d_%H-%M-%S}"
        stem = f"{when}_{_plain(spec.model.title)}_{_plain(voice_title(spec.voice))}"
        path, number = self.folder / f"{stem}.kvrec", 2
        while path.exists():
            path, number = self.folder / f"{stem}-{number}.kvrec", number + 1
        return path

    def clean(self, kept: int = KEPT_RECORDINGS, spared: Container[Path] = ()) -> list[Path]:
        """Removes runs that were never stepped and all but the newest; what was removed.

        Args:
            kept: how many of the newest to leave.
            spared: never removed, such as the one that is open.
        """
        found = sorted(self.folder.glob("*.kvrec"), reverse=True)  # names begin with the date
        empty = {path for path in found if _is_empty(path)}
        worth = [path for path in found if path not in empty]
        doomed = [path for path in (*empty, *worth[kept:]) if path not in spared]
        doomed = [path for path in doomed if not _is_being_written(path)]
        for path in doomed:
            for companion in COMPANIONS:
                with suppress(OSError):
                    path.with_name(path.name + companion).unlink(missing_ok=True)
        return doomed


def voice_title(voice: str) -> str:
    """A short name for a voice: `low`, or the file's name without folder and suffix."""
    name = voice.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[0] if "." in name else name


def _plain(name: str) -> str:
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    return plain[:NAME_LENGTH] or "unnamed"


def _is_empty(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (frames,) = connection.execute("SELECT count(*) FROM frame").fetchone()
    except sqlite3.Error:
        return False  # not ours to judge: an open that fails later says what is wrong
    return int(frames) < FEWEST_FRAMES


def _is_being_written(path: Path) -> bool:
    try:
        with Recording.open(path) as recording:
            return recording.live
    except RecordingError:
        return False
