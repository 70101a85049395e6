"""Makes one file of a recording whose run is over: its write-ahead log is folded into it."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path


def fold_log(path: Path) -> bool:
    """Settles a closed recording, without waiting; False if somebody has it open."""
    if not os.path.exists(f"{path}-wal"):
        return True
    uri = f"{path.resolve().as_uri()}?mode=rw"  # a file that is gone is not made again
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection,
    ):
        return settle(connection, wait_ms=0)
    return False


def settle(connection: sqlite3.Connection, wait_ms: int) -> bool:
    """Folds the write-ahead log into the file, leaving one file; False if somebody is reading."""
    with suppress(sqlite3.Error):
        connection.execute(f"PRAGMA busy_timeout = {wait_ms}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        return bool(mode) and mode[0] == "delete"
    return False
