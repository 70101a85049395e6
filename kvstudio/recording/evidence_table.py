"""What a run left as evidence for the checks: misused slots, attention, surprises, findings.

    for misuse in recording.evidence.misuses(frame=17):
        print(misuse.kind, misuse.first, misuse.last)

Rows come as the dataclasses of `evidence.py`, held against their annotations.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, TypeVar

from kvstudio.recording.evidence import Attention, FindingRow, Misuse, Prefix, Surprise
from kvstudio.recording.opening import reading
from kvstudio.recording.rows import FrameRecord
from kvstudio.recording.schema import PARTS
from kvstudio.recording.typed import from_row

Row = TypeVar("Row")
MISUSE = "op, cache, kind, kv, first, last, head_first, head_last, masked, fill, writer, frame"
ATTENTION = (
    "op, cache, queries, keys, position, slot, rope, oldest, newest, attended, future, outside, "
    "missing, frame"
)
SURPRISE = "model, entry, key, found, first, last, frame"
PREFIX = "chunk, marker_wanted, marker_slot, foreign_slots, voice_slots"
FINDING = (
    "kind, severity, message, frame, phase, layer, cache, caches, kv, first, last, op, site, "
    "count, links"
)


class Evidence:
    """Reads the evidence; asks the file at every call, so it is always up to date.

    Raises:
        DamagedRecording: from every method.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def misuses(self, frame: int | None = None) -> list[Misuse]:
        """Of one frame, or all, in the order in which they happened."""
        return self._of_frame(Misuse, f"SELECT {MISUSE} FROM misuse", frame, "id")

    def attentions(self, frame: int | None = None) -> list[Attention]:
        return self._of_frame(Attention, f"SELECT {ATTENTION} FROM attention", frame, "op, cache")

    def surprises(self, frame: int | None = None) -> list[Surprise]:
        return self._of_frame(Surprise, f"SELECT {SURPRISE} FROM surprise", frame, "rowid")

    def touched(self, frame: int) -> set[int]:
        """Caches of which an op of a frame read or wrote a slot, other than to expand them."""
        with reading(self._path):
            rows = self._connection.execute(
                "SELECT DISTINCT touch.cache FROM op JOIN touch ON touch.op = op.id "
                "WHERE op.frame = ? AND op.part != ?",
                (int(frame), PARTS.index("expand")),
            )
            return {int(cache) for (cache,) in rows}

    def prefixes(self) -> dict[int, Prefix]:
        """By chunk; chunks that go on with the state of another have none."""
        found = self._rows(Prefix, f"SELECT {PREFIX} FROM prefix ORDER BY chunk")
        return {prefix.chunk: prefix for prefix in found}

    def fed(self, frame: int | None = None) -> dict[int, str]:
        """What each decode step was fed, by frame; of one or all; see the `fed` table."""
        with reading(self._path):
            where = "" if frame is None else f"WHERE frame = {int(frame)}"
            rows = self._connection.execute(f"SELECT frame, what FROM fed {where} ORDER BY frame")
            return {int(frame): str(what) for frame, what in rows}

    def nan_takers(self, frame: int) -> list[int]:
        """Ids of the frame's ops that took NaN and gave none, in order."""
        with reading(self._path):
            rows = self._connection.execute(
                "SELECT id FROM op WHERE frame = ? AND nan_in = 1 AND nan_out != 1 ORDER BY id",
                (frame,),
            )
            return [int(op) for (op,) in rows]

    def nan_producer(self, frame: int, part: int) -> int | None:
        """Id of the first op of a part of a frame that took no NaN and gave one."""
        with reading(self._path):
            (op,) = self._connection.execute(
                "SELECT min(id) FROM op WHERE frame = ? AND part = ? AND nan_out = 1 "
                "AND ifnull(nan_in, 0) != 1",
                (frame, part),
            ).fetchone()
            return None if op is None else int(op)

    def snapshots(self, chunk: int) -> dict[int, int]:
        """Ids of what each FlowLM cache held when a chunk began, by cache; equal for equal."""
        with reading(self._path):
            rows = self._connection.execute(
                "SELECT cache, snapshot FROM chunk_base WHERE chunk = ? AND snapshot IS NOT NULL",
                (chunk,),
            )
            return {int(cache): int(snapshot) for cache, snapshot in rows}

    def thread(self, frame: int, part: int) -> str | None:
        """Name of the thread that ran a part of a frame; None if no op of it was seen."""
        with reading(self._path):
            row = self._connection.execute(
                "SELECT thread.name FROM op JOIN thread ON thread.id = op.thread "
                "WHERE op.frame = ? AND op.part = ? ORDER BY op.id LIMIT 1",
                (frame, part),
            ).fetchone()
            return None if row is None else str(row[0])

    def findings(self) -> list[FindingRow]:
        """What the engine's checks had found after the last frame."""
        return self._rows(FindingRow, f"SELECT {FINDING} FROM finding ORDER BY id")

    # ---- private ------------------------------------------------------------------------------

    def _of_frame(self, kind: type[Row], query: str, frame: int | None, order: str) -> list[Row]:
        if frame is None:
            return self._rows(kind, f"{query} ORDER BY frame, {order}")
        return self._rows(kind, f"{query} WHERE frame = ? ORDER BY {order}", frame)

    def _rows(self, kind: type[Row], query: str, *values: object) -> list[Row]:
        with reading(self._path):
            rows = self._connection.execute(query, values).fetchall()
            return [from_row(kind, row) for row in rows]


def insert_evidence(connection: sqlite3.Connection, record: FrameRecord, first_op: int) -> None:
    """Adds a frame's evidence; `first_op` is the id of the first of its ops."""
    frame = record.frame.id
    connection.executemany(
        f"INSERT INTO misuse ({MISUSE}) VALUES ({_marks(12)})",
        [(first_op + each.op, *astuple(each)[1:-1], frame) for each in record.misuses],
    )
    connection.executemany(
        f"INSERT INTO attention ({ATTENTION}) VALUES ({_marks(14)})",
        [(first_op + each.op, *astuple(each)[1:-1], frame) for each in record.attentions],
    )
    connection.executemany(
        f"INSERT INTO surprise ({SURPRISE}) VALUES ({_marks(7)})",
        [(*astuple(each)[:-1], frame) for each in record.surprises],
    )
    if record.fed is not None:
        connection.execute("INSERT INTO fed VALUES (?, ?)", (frame, record.fed))


def insert_prefix(connection: sqlite3.Connection, prefix: Prefix) -> None:
    connection.execute(
        f"INSERT OR REPLACE INTO prefix ({PREFIX}) VALUES ({_marks(5)})", _plain(prefix)
    )


def replace_findings(connection: sqlite3.Connection, findings: Sequence[FindingRow]) -> None:
    connection.execute("DELETE FROM finding")
    connection.executemany(
        f"INSERT INTO finding ({FINDING}) VALUES ({_marks(15)})", map(_plain, findings)
    )


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _plain(row: Any) -> tuple[object, ...]:  # noqa: ANN401 -- any of our rows
    return tuple(vars(row).values())
