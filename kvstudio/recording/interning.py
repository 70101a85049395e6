"""Stores the ops of a frame with every repeated text kept once."""

import sqlite3
from collections.abc import Sequence

from kvstudio.recording.rows import Op

Key = tuple[object, ...]


class OpInterner:
    """Gives ids to sites, calls, shapes and threads, and inserts ops that refer to them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ids: dict[str, dict[Key, int]] = {"site": {}, "call": {}, "shapes": {}, "thread": {}}
        self._new: list[tuple[str, Key]] = []
        self._next_op = 0
        self._committed_op = 0

    def add_ops(self, frame: int, ops: Sequence[Op]) -> int:
        """Inserts ops and their touches, inside the caller's transaction; the first one's id."""
        rows, touches = [], []
        first = self._next_op
        for number, op in enumerate(ops, first):
            rows.append(self._row(number, frame, op))
            for touch in op.touches:
                touches.append(
                    (number, touch.cache, touch.kv, touch.first, touch.last, int(touch.write))
                )
        self._next_op += len(rows)
        self._connection.executemany("INSERT INTO op VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._connection.executemany("INSERT INTO touch VALUES (?, ?, ?, ?, ?, ?)", touches)
        return first

    def committed(self) -> None:
        self._new.clear()
        self._committed_op = self._next_op

    def forget_uncommitted(self) -> None:
        """After a rollback: ids given out in the lost transaction are not in the file."""
        for table, key in self._new:
            self._ids[table].pop(key, None)
        self._new.clear()
        self._next_op = self._committed_op

    def _row(self, number: int, frame: int, op: Op) -> tuple[int | None, ...]:
        call = self._ids["call"].get((op.name, op.site, op.module))
        if call is None:
            site = self._id("site", op.site, op.site)
            call = self._id("call", (op.name, op.site, op.module), (op.name, site, op.module))
        shapes_key = (op.arguments, op.results)
        shapes = self._ids["shapes"].get(shapes_key)
        if shapes is None:
            shapes = self._id("shapes", shapes_key, shapes_key)
        thread = self._id("thread", (op.thread,), (op.thread,))
        return (
            number,
            frame,
            op.part,
            call,
            shapes,
            thread,
            op.began_ns,
            op.took_ns,
            op.nan_in,
            op.nan_out,
        )

    def _id(self, table: str, key: Key, row: Key) -> int:
        known = self._ids[table]
        if key in known:
            return known[key]
        number = known[key] = len(known)
        self._new.append((table, key))
        slots = ", ".join("?" * (len(row) + 1))
        self._connection.execute(f"INSERT INTO {table} VALUES ({slots})", (number, *row))
        return number
