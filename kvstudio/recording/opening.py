"""Opens a recording for reading and says in words why a file cannot be one."""

import os
import re
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kvstudio.recording import schema
from kvstudio.recording.errors import (
    DamagedRecording,
    NewerRecording,
    NotARecording,
    OlderRecording,
    RecordingError,
    TruncatedRecording,
)

SQLITE_MAGIC = b"SQLite format 3\x00"
HEADER_BYTES = 100
TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", schema.TABLES))


def connect(path: Path) -> sqlite3.Connection:
    """A read-only connection to the recording at `path`.

    Raises:
        NotARecording, TruncatedRecording, NewerRecording, OlderRecording, DamagedRecording.
    """
    _check_header(path)
    connection = _connect_readonly(path)
    try:
        with reading(path):
            connection.execute("PRAGMA trusted_schema = OFF")
            _check_tables(path, connection)
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
    except (sqlite3.Error, ValueError, TypeError, IndexError) as error:
        raise DamagedRecording(path, f"is damaged: {error}") from error
    except KeyError as error:
        raise DamagedRecording(path, f"is damaged: {error} is missing") from error
    except (MemoryError, OverflowError, RecursionError) as error:
        raise DamagedRecording(path, "is damaged: it claims impossible sizes") from error


def is_alive(pid: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return pid > 0  # below: a group of processes, which no writer is


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise NotARecording(path, "there is no such file") from error
    except IsADirectoryError as error:
        raise NotARecording(path, "is a folder, not a recording") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise NotARecording(path, f"cannot be read: {why}") from error
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
    if 0 < version < schema.VERSION:
        raise OlderRecording(
            path,
            f"was made by an older KVStudio (format {version}, this one reads {schema.VERSION}): "
            "open it with that version, or make it again",
        )
    expected = (65536 if page_size == 1 else page_size) * pages
    if size < expected and not _has_log(path):
        raise TruncatedRecording(
            path, f"is cut off: {size:,} of {expected:,} bytes are there; copy it again"
        )


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    """Our tables are there and are tables: a view of the same name could compute for ever."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage")
    missing = TABLES - {str(name) for (name,) in rows}
    if missing:
        raise DamagedRecording(path, f"is damaged: there is no table {', '.join(sorted(missing))}")


def _has_log(path: Path) -> bool:
    with suppress(OSError):
        return os.path.getsize(f"{path}-wal") > 0
    return False


def _connect_readonly(path: Path) -> sqlite3.Connection:
    uri = path.resolve().as_uri()
    with reading(path):
        try:
            return _connection(f"{uri}?mode=ro")
        except sqlite3.OperationalError as error:
            if not any(words in str(error) for words in ("unable to open", "readonly")):
                raise
        # A file in WAL mode in a folder that cannot be written opens only as immutable, which
        # leaves out what is still in its log.
        if _has_log(path):
            raise RecordingError(
                path,
                "is a run that was cut short, in a folder that cannot be written: copy it together "
                f"with {path.name}-wal to another folder and open it there",
            )
        return _connection(f"{uri}?mode=ro&immutable=1")


def _connection(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:  # even the words of SQLite's error may not be decodable
        connection.close()
        raise
    return connection
