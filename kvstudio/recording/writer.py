"""Appends to a recording: one transaction per frame, so a killed run loses one frame at most."""

import hashlib
import json
import os
import platform
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kvstudio.recording import schema
from kvstudio.recording.encoding import as_json, as_unicode, blob, real
from kvstudio.recording.errors import UnwritableRecording
from kvstudio.recording.evidence import FindingRow, Prefix
from kvstudio.recording.evidence_table import insert_evidence, insert_prefix, replace_findings
from kvstudio.recording.interning import OpInterner
from kvstudio.recording.numbers import delta_rows
from kvstudio.recording.rows import (
    Base,
    Cache,
    Chunk,
    Expansion,
    FrameRecord,
    LogLine,
    TensorState,
)
from kvstudio.recording.settling import settle
from kvstudio.recording.spec import RunSpec

SETTLE_MS = 500


class RecordingWriter:
    """Writes one new recording. Safe to call from several threads, one call at a time.

    Raises:
        UnwritableRecording: from every method, if the file cannot be made or the disk is full.
    """

    def __init__(
        self, path: str | Path, spec: RunSpec, versions: Mapping[str, str], **facts: object
    ) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._caches: dict[tuple[str, str], Cache] = {}
        self._tensors: dict[tuple[str, str, str], int] = {}
        self._snapshots: dict[tuple[int, bytes], int] = {}
        self._first_sample = 0
        self._connection: sqlite3.Connection | None = self._create()
        weakref.finalize(self, self._connection.close)
        self._interner = OpInterner(self._connection)
        first = {"spec": json.loads(spec.to_json()), "versions": dict(versions), **_host_facts()}
        self.set_facts(**{**first, **facts})

    def set_facts(self, **facts: object) -> None:
        rows = [(key, as_json(value)) for key, value in facts.items()]
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def add_cache(self, **described: Any) -> Cache:  # noqa: ANN401 -- the fields of Cache but id
        """Registers a cache, or returns the one known by the same model and name."""
        key = (described["model"], described["name"])
        if key in self._caches:
            return self._caches[key]
        cache = Cache(id=len(self._caches), **described)
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO cache VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                tuple(cache.__dict__.values()),
            )
        self._caches[key] = cache
        return cache

    def begin_chunk(
        self, chunk: Chunk, bases: Sequence[Base], expansions: Sequence[Expansion] = ()
    ) -> None:
        """Adds a chunk and what its caches held when it began; expansions may come later."""
        with self._transaction() as connection:
            row = {
                **vars(chunk),
                "text": as_unicode(chunk.text),
                "tokens": as_json(chunk.tokens),
            }
            connection.execute(
                f"INSERT OR REPLACE INTO chunk VALUES ({', '.join('?' * len(row))})",
                tuple(row.values()),
            )
            for base in bases:
                snapshot = None if base.values is None else self._snapshot(connection, base)
                connection.execute(
                    "INSERT OR REPLACE INTO chunk_base VALUES (?, ?, ?, ?)",
                    (chunk.id, base.cache, snapshot, base.offset),
                )
            connection.executemany(
                "INSERT OR REPLACE INTO expansion VALUES (?, ?, ?, ?, ?, ?, ?)",
                [tuple(each.__dict__.values()) for each in expansions],
            )

    def add_frame(self, record: FrameRecord) -> None:
        frame = record.frame
        with self._transaction() as connection:
            row = {**frame.__dict__, "stop_logit": real(frame.stop_logit)}
            connection.execute(
                f"INSERT INTO frame VALUES ({', '.join('?' * len(row))})", tuple(row.values())
            )
            self._add_state(connection, record)
            first_op = self._interner.add_ops(frame.id, record.ops)
            insert_evidence(connection, record, first_op)
            if record.rng is not None:
                connection.execute("INSERT INTO rng VALUES (?, ?)", (frame.id, record.rng))
            if record.latent is not None:
                connection.execute(
                    "INSERT INTO latent VALUES (?, ?)", (frame.id, blob(record.latent))
                )
            if record.audio is not None:
                connection.execute(
                    "INSERT INTO audio VALUES (?, ?, ?)",
                    (frame.id, self._first_sample, blob(record.audio)),
                )
        if record.audio is not None:
            self._first_sample += record.audio.size

    def add_prefix(self, prefix: Prefix) -> None:
        """What the prefix of a chunk turned out to be."""
        with self._transaction() as connection:
            insert_prefix(connection, prefix)

    def set_findings(self, findings: Sequence[FindingRow]) -> None:
        """Replaces the findings by those that are known now."""
        with self._transaction() as connection:
            replace_findings(connection, findings)

    def add_source(self, file: str, text: str) -> None:
        """Keeps the text of a source file, so that sites can be shown on another machine."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO source VALUES (?, ?)", (file, as_unicode(text))
            )

    def add_log(self, lines: Sequence[LogLine]) -> None:
        with self._transaction() as connection:
            connection.executemany(
                "INSERT INTO log (at, stream, text) VALUES (?, ?, ?)",
                [(line.at, line.stream, as_unicode(line.text)) for line in lines],
            )

    def finish(self, status: str, reason: str = "") -> None:
        """Closes the recording; `status` is finished, stopped or failed. Harmless when repeated."""
        if self._connection is None:
            return
        with suppress(UnwritableRecording):
            self.set_facts(status=status, reason=reason, finished_at=time.time())
        with self._lock:
            settle(self._connection, SETTLE_MS)
            self._connection.close()
            self._connection = None

    # ---- private ------------------------------------------------------------------------------

    def _create(self) -> sqlite3.Connection:
        if os.path.lexists(self.path):
            what = "a folder" if os.path.isdir(self.path) else "a file"
            raise UnwritableRecording(self.path, f"{what} of this name exists; choose another name")
        connection = None
        try:
            connection = sqlite3.connect(
                self.path, check_same_thread=False, isolation_level=None, timeout=10
            )
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {schema.VERSION}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript("BEGIN;" + schema.TABLES + "COMMIT;")
        except (sqlite3.Error, ValueError) as error:
            if connection is not None:
                connection.close()
                self._remove_beginnings()
            raise UnwritableRecording(self.path, _why_unwritable(self.path, error)) from error
        return connection

    def _remove_beginnings(self) -> None:
        """A file that never became a recording must not be in the way of the next attempt."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                os.remove(f"{self.path}{suffix}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._connection is None:
                raise UnwritableRecording(self.path, "the recording is closed")
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                self._interner.forget_uncommitted()
                self._snapshots.clear()
                if isinstance(error, (sqlite3.Error, UnicodeEncodeError)):
                    why = _why_unwritable(self.path, error)
                    raise UnwritableRecording(self.path, why) from error
                raise
            self._interner.committed()

    def _snapshot(self, connection: sqlite3.Connection, base: Base) -> int:
        assert base.values is not None
        raw = blob(base.values)
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        known = self._snapshots.get((base.cache, digest))
        if known is not None:
            return known
        cursor = connection.execute(
            'INSERT INTO snapshot (cache, slots, digest, "values") VALUES (?, ?, ?, ?)',
            (base.cache, base.values.shape[2], digest, raw),
        )
        assert cursor.lastrowid is not None
        self._snapshots[base.cache, digest] = cursor.lastrowid
        return cursor.lastrowid

    def _add_state(self, connection: sqlite3.Connection, record: FrameRecord) -> None:
        frame = record.frame.id
        connection.executemany(
            "INSERT INTO cache_state VALUES (?, ?, ?, ?, ?, ?)",
            [
                (frame, s.cache, s.found, s.offset, s.capacity, s.nan_slots)
                for s in record.cache_states
            ],
        )
        connection.executemany(
            'INSERT INTO slot_delta (frame, cache, first, last, worst, "values") '
            "VALUES (?, ?, ?, ?, ?, ?)",
            [(frame, *row) for delta in record.deltas for row in delta_rows(delta)],
        )
        connection.executemany(
            "INSERT OR REPLACE INTO tensor_state VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [self._tensor_row(connection, frame, tensor) for tensor in record.tensors],
        )

    def _tensor_row(
        self, connection: sqlite3.Connection, frame: int, tensor: TensorState
    ) -> tuple[object, ...]:
        key = (tensor.model, tensor.entry, tensor.key)
        if key not in self._tensors:
            self._tensors[key] = len(self._tensors)
        # OR IGNORE: a rolled-back transaction may have taken the row away again.
        connection.execute(
            "INSERT OR IGNORE INTO tensor VALUES (?, ?, ?, ?)", (self._tensors[key], *key)
        )
        return (
            self._tensors[key],
            frame,
            tensor.shape,
            tensor.dtype,
            tensor.device,
            tensor.nan_count,
            tensor.value,
            tensor.storage,
        )


def _host_facts() -> dict[str, object]:
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "pid": os.getpid(),
        "status": "recording",
        "reason": "",
        "started_at": time.time(),
    }


def _why_unwritable(path: Path, error: Exception) -> str:
    folder = path.parent
    if not os.path.isdir(folder):
        return f"cannot be written: the folder {folder} does not exist"
    if "full" in str(error):
        return (
            "the disk is full; the frames recorded so far are safe. Free some space and start again"
        )
    if "readonly" in str(error) or "unable to open" in str(error):
        return f"cannot be written: no permission to write in {folder}, or the file is read-only"
    return f"cannot be written: {error}"
