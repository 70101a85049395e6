"""Finds ops among millions: columns in numpy, texts interned, filters by id."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kvstudio.recording import schema
from kvstudio.recording.opening import reading
from kvstudio.recording.rows import Op, Touch
from kvstudio.recording.typed import from_row

Ids = NDArray[np.int64]
MOST_OPS_A_FRAME = 10_000_000
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


@dataclass(frozen=True)
class OpColumns:
    """One row of the `op` table, but its id."""

    frame: int
    part: int
    call: int
    shapes: int
    thread: int
    began_ns: int
    took_ns: int
    nan_in: int | None
    nan_out: int | None


@dataclass(frozen=True)
class OpShare:
    """What one op, called so many times, took of a frame."""

    part: int
    op: str
    count: int
    took_ns: int


class OpTable:
    """Every op of the recording, by id; texts are looked up once per distinct call or shape.

    Raises:
        DamagedRecording: from every method that asks the file.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
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

    def refresh(self, most: int | None = None) -> bool:
        """Takes in the columns of ops added since the last call.

        Args:
            most: rows to take in at once; a million take more than a second.

        Returns:
            Whether there may be more.
        """
        with reading(self._path):
            rows = self._connection.execute(
                "SELECT id, call, shapes, frame, ifnull(nan_in, 3) * 4 + ifnull(nan_out, 3) "
                "FROM op WHERE id >= ? ORDER BY id LIMIT ?",
                (len(self), -1 if most is None else most),
            ).fetchall()
            if not rows:
                return False
            self._refresh_texts()
            columns = np.array(rows)
            self._require_sane(columns)
            self.calls = np.concatenate([self.calls, columns[:, 1].astype(np.int32)])
            self.shapes = np.concatenate([self.shapes, columns[:, 2].astype(np.int32)])
            self.frames = np.concatenate([self.frames, columns[:, 3].astype(np.int32)])
            self.flags = np.concatenate([self.flags, columns[:, 4].astype(np.uint8)])
            return len(rows) == most

    def count(self) -> int:
        """How many ops there are, taken in or not."""
        with reading(self._path):
            (count,) = self._connection.execute("SELECT ifnull(max(id), -1) + 1 FROM op").fetchone()
            return int(count)

    def of_frame(self, frame: int) -> Ids:
        """Ids of the frame's ops in order; ops are stored frame by frame."""
        if len(self) and self.frames[-1] > frame:
            first = int(np.searchsorted(self.frames, frame, "left"))
            last = int(np.searchsorted(self.frames, frame, "right"))
        else:  # not all of them are taken in
            with reading(self._path):
                first, last = self._connection.execute(
                    "SELECT ifnull(min(id), 0), ifnull(max(id), -1) + 1 FROM op WHERE frame = ?",
                    (frame,),
                ).fetchone()
                if last - first > MOST_OPS_A_FRAME:
                    raise ValueError(f"frame {frame} claims {last - first} ops")
        return np.arange(first, last, dtype=np.int64)

    def matching(self, text: str, among: Ids | None = None, after: int = 0) -> Ids:
        """Ids of ops in which every word of `text` occurs, in op, module, site or shapes.

        A word that begins with `-` must not occur; `nan` and `inf` by themselves mean the
        ops that take or give such a number, and not those with such a name.

        Args:
            text: words, separated by spaces.
            among: ascending ids to choose from; all ops if absent.
            after: the first id to look at; the way to follow a table that grows.
        """
        wanted = np.ones(max(0, len(self) - after), bool)
        for word in text.lower().split():
            negative = len(word) > 1 and word.startswith("-")
            found = self._containing(word[1:] if negative else word, after)
            wanted &= ~found if negative else found
        ids = np.flatnonzero(wanted).astype(np.int64) + after
        return ids if among is None else ids[np.isin(ids, among, assume_unique=True)]

    def call(self, op: int) -> Call:
        return self._calls[int(self.calls[op])]

    def shapes_of(self, op: int) -> tuple[str, str]:
        return self._shapes[int(self.shapes[op])]

    def get(self, op: int) -> Op:
        """The whole row, with its touches."""
        with reading(self._path):
            row = self._connection.execute(
                "SELECT frame, part, call, shapes, thread, began_ns, took_ns, nan_in, nan_out "
                "FROM op WHERE id = ?",
                (int(op),),
            ).fetchone()
            if row is None:
                raise ValueError(f"there is no op {op}")
            columns = from_row(OpColumns, row)
            if not self._knows(columns):
                self._refresh_texts()
            call = self._calls[columns.call]
            arguments, results = self._shapes[columns.shapes]
            return Op(
                name=call.op,
                part=columns.part,
                module=call.module,
                site=(call.file, call.line, call.function),
                arguments=arguments,
                results=results,
                thread=self._threads[columns.thread],
                began_ns=columns.began_ns,
                took_ns=columns.took_ns,
                nan_in=columns.nan_in,
                nan_out=columns.nan_out,
                touches=self.touches(op),
                id=int(op),
                frame=columns.frame,
            )

    def shares(self, frame: int) -> list[OpShare]:
        """What each op took of a frame, part by part, the dearest first."""
        with reading(self._path):
            rows = self._connection.execute(
                "SELECT op.part, call.op, count(*), sum(op.took_ns) FROM op "
                "JOIN call ON call.id = op.call WHERE op.frame = ? "
                "GROUP BY op.part, call.op ORDER BY op.part, 4 DESC",
                (frame,),
            )
            return [from_row(OpShare, row) for row in rows]

    def touches(self, op: int) -> list[Touch]:
        with reading(self._path):
            rows = self._connection.execute(
                'SELECT cache, kv, first, last, "write" FROM touch WHERE op = ? ORDER BY rowid',
                (int(op),),
            )
            return [from_row(Touch, row) for row in rows.fetchall()]

    def frames_of(self, ops: Iterable[int]) -> list[int]:
        """The frame of each op, also of those that are not taken in yet."""
        query = "SELECT frame FROM op WHERE id = ?"
        with reading(self._path):
            return [int(self._connection.execute(query, (op,)).fetchone()[0]) for op in ops]

    def touching(
        self, cache: int, slot: int, until_frame: int, after: int = -1
    ) -> list[tuple[int, Touch]]:
        """Ops up to a frame that read or wrote one slot, oldest first, with what they touched.

        `after`: only ops with a higher id, for following a run.
        """
        with reading(self._path):
            rows = self._connection.execute(
                'SELECT t.op, t.cache, t.kv, t.first, t.last, t."write" FROM touch t '
                "JOIN op ON op.id = t.op "
                "WHERE t.cache = ? AND t.first <= ? AND t.last > ? AND op.frame <= ? AND t.op > ? "
                "ORDER BY t.op",
                (cache, slot, slot, until_frame, after),
            )
            return [(int(op), from_row(Touch, touch)) for op, *touch in rows.fetchall()]

    # ---- private ------------------------------------------------------------------------------

    def _containing(self, word: str, after: int) -> NDArray[np.bool_]:
        if word in ("nan", "inf"):  # the numbers, not what has them in its name
            flag = 1 if word == "nan" else 2
            flags = self.flags[after:]
            return np.asarray((flags // 4 == flag) | (flags % 4 == flag))
        calls = [number for number, call in self._calls.items() if word in call.words]
        shapes = [n for n, texts in self._shapes.items() if word in " -> ".join(texts).lower()]
        found = _lookup(calls, self.calls[after:]) | _lookup(shapes, self.shapes[after:])
        return found

    def _knows(self, columns: OpColumns) -> bool:
        return (
            columns.call in self._calls
            and columns.shapes in self._shapes
            and columns.thread in self._threads
        )

    def _refresh_texts(self) -> None:
        rows = self._connection.execute(
            "SELECT call.id, op, module, file, line, function FROM call "
            "JOIN site ON site.id = call.site WHERE call.id >= ?",
            (len(self._calls),),
        )
        self._calls.update({number: from_row(Call, texts) for number, *texts in rows.fetchall()})
        rows = self._connection.execute(
            "SELECT id, arguments, results FROM shapes WHERE id >= ?", (len(self._shapes),)
        )
        self._shapes.update(
            {
                number: (str(arguments), str(results))
                for number, arguments, results in rows.fetchall()
            }
        )
        names = self._connection.execute("SELECT id, name FROM thread")
        self._threads.update({number: str(name) for number, name in names})

    def _require_sane(self, columns: NDArray[np.int64]) -> None:
        """Op ids without a gap, frames in order, texts that are there; raises ValueError."""
        last_frame = self.frames[-1] if len(self) else 0
        if columns.dtype != np.int64:
            raise ValueError("an op has a text where a number belongs")
        if (columns[:, 0] != np.arange(len(self), len(self) + len(columns))).any():
            raise ValueError("ops are missing")
        if (np.diff(columns[:, 3], prepend=last_frame) < 0).any():
            raise ValueError("ops are not in the order of their frames")
        for known, column in ((self._calls, columns[:, 1]), (self._shapes, columns[:, 2])):
            _require_within(column, len(known), "an op has no text")
            if set(known) != set(range(len(known))):
                raise ValueError("texts of ops are missing")
        _require_within(columns[:, 3], np.iinfo(np.int32).max, "an op has no frame")
        _require_within(columns[:, 4], 16, "an op has impossible numbers")


def part_word(part: int) -> str:
    return schema.PARTS[part] if 0 <= part < len(schema.PARTS) else str(part)


def _require_within(column: NDArray[np.int64], limit: int, otherwise: str) -> None:
    if column.min() < 0 or column.max() >= limit:
        raise ValueError(otherwise)


def _lookup(wanted: list[int], column: NDArray[np.int32]) -> NDArray[np.bool_]:
    if not len(column):
        return np.zeros(0, bool)
    table = np.zeros(max(int(column.max()), *wanted, 0) + 1, bool)
    table[wanted] = True
    return table[column]
