"""Opens a recording for reading and says in words why a file cannot be one."""

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from kvstudio.recording import schema
from kvstudio.recording.errors import (
    DamagedRecording,
    NewerRecording,
    NotARecording,
    RecordingError,
    TruncatedRecording,
)

SQLITE_MAGIC = b"SQLite format 3\x00"
HEADER_BYTES = 100


def connect(path: Path) -> sqlite3.Connection:
    """A read-only connection to the recording at `path`.

    Raises:
        NotARecording, TruncatedRecording, NewerRecording, DamagedRecording.
    """
    _check_header(path)
    connection = _connect_readonly(path)
    try:
        with reading(path):
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("SELECT key, value FROM meta LIMIT 1").fetchone()
    except RecordingError:
        connection.close()
        raise
    return connection


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns whatever a damaged or hostile file provokes into DamagedRecording."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise RecordingError(path, "is locked by another program; try again") from error
        raise DamagedRecording(path, f"is damaged: {error}") from error
    except (sqlite3.Error, ValueError, TypeError, KeyError, IndexError) as error:
        raise DamagedRecording(path, f"is damaged: {error}") from error
    except (MemoryError, OverflowError) as error:
        raise DamagedRecording(path, "is damaged: it claims impossible sizes") from error


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise NotARecording(path, "there is no such file") from error
    except OSError as error:
        raise NotARecording(path, f"cannot be read: {error.strerror or error}") from error
    if not header.startswith(SQLITE_MAGIC):
        what = "is empty" if not header else "is not a KVStudio recording"
        raise NotARecording(path, f"{what}; recordings end in .kvrec and are made by a run")
    if len(header) < HEADER_BYTES:
        raise TruncatedRecording(path, "is cut off in its first bytes; copy it again")
    _check_numbers(path, header, size)


def _check_numbers(path: Path, header: bytes, size: int) -> None:
    (page_size,) = struct.unpack(">H", header[16:18])
    (pages,) = struct.unpack(">I", header[28:32])
    (version,) = struct.unpack(">I", header[60:64])
    (application,) = struct.unpack(">I", header[68:72])
    if application != schema.APPLICATION_ID and not _has_log(path):
        raise NotARecording(path, "is an SQLite file, but not a KVStudio recording")
    if version > schema.VERSION:
        raise NewerRecording(
            path,
            f"was made by a newer KVStudio (format {version}, this one reads {schema.VERSION}); "
            "update KVStudio to open it",
        )
    expected = (65536 if page_size == 1 else page_size) * pages
    if size < expected and not _has_log(path):
        raise TruncatedRecording(
            path, f"is cut off: {size:,} of {expected:,} bytes are there; copy it again"
        )


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _connect_readonly(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.resolve()))}"
    # A file in WAL mode in a folder that cannot be written opens only as immutable.
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = None
        try:
            connection = sqlite3.connect(
                f"{uri}?{options}", uri=True, isolation_level=None, check_same_thread=False
            )
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            with suppress(Exception):
                if connection is not None:
                    connection.close()
            continue
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise DamagedRecording(path, f"is damaged: {error}") from error
        return connection
    raise DamagedRecording(path, "cannot be opened: no permission, or it is damaged")
