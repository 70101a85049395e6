"""Finds ops among millions: columns in numpy, texts interned, filters by id."""

import sqlite3
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kvstudio.recording import schema
from kvstudio.recording.rows import Op, Touch

Ids = NDArray[np.int64]
NAN_WORDS = {0: "", 1: "NaN", 2: "Inf", None: "?"}


@dataclass(frozen=True)
class Call:
    """An op at a place in the model."""

    op: str
    module: str
    file: str
    line: int
    function: str

    @property
    def words(self) -> str:
        return f"{self.op} {self.module} {self.file}:{self.line} {self.function}".lower()


class OpTable:
    """Every op of the recording, by id; texts are looked up once per distinct call or shape."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._calls: dict[int, Call] = {}
        self._shapes: dict[int, tuple[str, str]] = {}
        self._threads: dict[int, str] = {}
        self.calls = np.zeros(0, np.int32)
        self.shapes = np.zeros(0, np.int32)
        self.frames = np.zeros(0, np.int32)
        self.flags = np.zeros(0, np.uint8)
        """nan_in * 4 + nan_out, for filters; 3 stands for `not looked at`."""

    def __len__(self) -> int:
        return len(self.calls)

    def refresh(self) -> None:
        """Takes in the columns of ops added since the last call."""
        rows = self._connection.execute(
            "SELECT call, shapes, frame, ifnull(nan_in, 3) * 4 + ifnull(nan_out, 3) FROM op "
            "WHERE id >= ? ORDER BY id",
            (len(self),),
        ).fetchall()
        if not rows:
            return
        columns = np.array(rows, np.int64)
        self.calls = np.concatenate([self.calls, columns[:, 0].astype(np.int32)])
        self.shapes = np.concatenate([self.shapes, columns[:, 1].astype(np.int32)])
        self.frames = np.concatenate([self.frames, columns[:, 2].astype(np.int32)])
        self.flags = np.concatenate([self.flags, columns[:, 3].astype(np.uint8)])
        self._refresh_texts()

    def of_frame(self, frame: int) -> Ids:
        """Ids of the frame's ops in order; ops are stored frame by frame."""
        first = np.searchsorted(self.frames, frame, "left")
        last = np.searchsorted(self.frames, frame, "right")
        return np.arange(first, last, dtype=np.int64)

    def matching(self, text: str, among: Ids | None = None) -> Ids:
        """Ids of ops in which every word of `text` occurs, in op, module, site or shapes.

        A word that begins with `-` must not occur; `nan` and `inf` also find the
        ops that take or give such a number.
        """
        wanted = np.ones(len(self), bool)
        for word in text.lower().split():
            negative = len(word) > 1 and word.startswith("-")
            found = self._containing(word[1:] if negative else word)
            wanted &= ~found if negative else found
        ids = np.flatnonzero(wanted).astype(np.int64)
        return ids if among is None else ids[np.isin(ids, among, assume_unique=True)]

    def call(self, op: int) -> Call:
        return self._calls[int(self.calls[op])]

    def shapes_of(self, op: int) -> tuple[str, str]:
        return self._shapes[int(self.shapes[op])]

    def get(self, op: int) -> Op:
        """The whole row, with its touches."""
        part, thread, began, took, nan_in, nan_out = self._connection.execute(
            "SELECT part, thread, began_ns, took_ns, nan_in, nan_out FROM op WHERE id = ?",
            (int(op),),
        ).fetchone()
        call, shapes = self.call(op), self.shapes_of(op)
        return Op(
            name=call.op,
            part=part,
            module=call.module,
            site=(call.file, call.line, call.function),
            arguments=shapes[0],
            results=shapes[1],
            thread=self._threads[thread],
            began_ns=began,
            took_ns=took,
            nan_in=nan_in,
            nan_out=nan_out,
            touches=self.touches(op),
            id=int(op),
            frame=int(self.frames[op]),
        )

    def touches(self, op: int) -> list[Touch]:
        rows = self._connection.execute(
            'SELECT cache, kv, first, last, "write" FROM touch WHERE op = ?', (int(op),)
        )
        return [
            Touch(cache, kv, first, last, bool(write)) for cache, kv, first, last, write in rows
        ]

    def touching(self, cache: int, slot: int, until_frame: int) -> list[tuple[int, Touch]]:
        """Ops up to a frame that read or wrote one slot, oldest first, with what they touched."""
        rows = self._connection.execute(
            'SELECT t.op, t.cache, t.kv, t.first, t.last, t."write" FROM touch t '
            "JOIN op ON op.id = t.op "
            "WHERE t.cache = ? AND t.first <= ? AND t.last > ? AND op.frame <= ? ORDER BY t.op",
            (cache, slot, slot, until_frame),
        )
        return [(row[0], Touch(row[1], row[2], row[3], row[4], bool(row[5]))) for row in rows]

    # ---- private ------------------------------------------------------------------------------

    def _containing(self, word: str) -> NDArray[np.bool_]:
        calls = [number for number, call in self._calls.items() if word in call.words]
        shapes = [n for n, texts in self._shapes.items() if word in " -> ".join(texts).lower()]
        found = _lookup(calls, self.calls) | _lookup(shapes, self.shapes)
        if word in ("nan", "inf"):
            flag = 1 if word == "nan" else 2
            found |= (self.flags // 4 == flag) | (self.flags % 4 == flag)
        return found

    def _refresh_texts(self) -> None:
        rows = self._connection.execute(
            "SELECT call.id, op, module, file, line, function FROM call "
            "JOIN site ON site.id = call.site WHERE call.id >= ?",
            (len(self._calls),),
        )
        for number, *texts in rows:
            self._calls[number] = Call(*texts)
        rows = self._connection.execute(
            "SELECT id, arguments, results FROM shapes WHERE id >= ?", (len(self._shapes),)
        )
        self._shapes.update({number: (arguments, results) for number, arguments, results in rows})
        self._threads.update(dict(self._connection.execute("SELECT id, name FROM thread")))


def part_word(part: int) -> str:
    return schema.PARTS[part] if 0 <= part < len(schema.PARTS) else str(part)


def _lookup(wanted: list[int], column: NDArray[np.int32]) -> NDArray[np.bool_]:
    if not len(column):
        return np.zeros(0, bool)
    table = np.zeros(int(column.max()) + 1, bool)
    table[[number for number in wanted if number < len(table)]] = True
    return table[column]
