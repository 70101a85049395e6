"""Rebuilds what every slot of a cache held after any frame, from snapshots and deltas."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kvstudio.recording.filling import Filling
from kvstudio.recording.numbers import FINITE, INF, worst_numbers
from kvstudio.recording.roles import SlotRole
from kvstudio.recording.rows import Cache, Chunk, Floats
from kvstudio.recording.typed import from_row

MOST_FLOATS = 2**28  # 1 GiB; a minute of speech takes 4 MiB a layer of the largest model
BEFORE_THE_RUN = -1
"""In `SlotMap.frames`: the slot was filled before the run's first frame, or never."""


@dataclass(frozen=True)
class SlotMap:
    """All slots of one cache after one frame, without their values.

    Attributes:
        roles: uint8 `[T]`, `SlotRole` numbers.
        frames: int32 `[T]`, the frame that last wrote the slot, or -1.
        offset: index of the next write, or None if the state has none.
        capacity: T.
        worst: uint8 `[T]`, the worst number in each written slot: `numbers.FINITE`, `NAN`, `INF`.
    """

    cache: Cache
    roles: NDArray[np.uint8]
    frames: NDArray[np.int32]
    worst: NDArray[np.uint8]
    offset: int | None
    capacity: int

    @property
    def written(self) -> NDArray[np.bool_]:
        written: NDArray[np.bool_] = self.roles != SlotRole.UNWRITTEN
        return written


@dataclass(frozen=True)
class Write:
    """Slots `[first, last)` written during `frame`."""

    frame: int
    cache: int
    first: int
    last: int
    worst: int = FINITE


class SlotHistory:
    """The writes to every cache, kept in memory without their values; values come on demand."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._writes: dict[tuple[int, int], list[Write]] = {}  # by (cache, chunk)
        self._of_frame: dict[int, list[Write]] = {}
        self._fillings: dict[tuple[int, int], Filling] = {}
        self._bases: dict[tuple[int, int], NDArray[np.uint8]] = {}
        self._last_delta = 0

    def refresh(self, chunk_of_frame: dict[int, int]) -> None:
        """Takes in the deltas that were added since the last call."""
        rows = self._connection.execute(
            "SELECT id, frame, cache, first, last, worst FROM slot_delta WHERE id > ? ORDER BY id",
            (self._last_delta,),
        )
        for number, *row in rows.fetchall():
            write = from_row(Write, row)
            if not (0 <= write.first <= write.last and FINITE <= write.worst <= INF):
                raise ValueError(f"frame {write.frame} writes slots {write.first} to {write.last}")
            if write.frame not in chunk_of_frame:
                return  # a frame that the caller has not seen yet
            key = (write.cache, chunk_of_frame[write.frame])
            self._writes.setdefault(key, []).append(write)
            self._of_frame.setdefault(write.frame, []).append(write)
            self._last_delta = number

    def writes(self, cache: Cache, chunk: int, frame: int) -> list[Write]:
        return [w for w in self._writes.get((cache.id, chunk), []) if w.frame <= frame]

    def of_frame(self, frame: int) -> list[Write]:
        return self._of_frame.get(frame, [])

    def map(
        self,
        cache: Cache,
        chunks: list[Chunk],
        frame: int,
        phases: dict[int, str],
        offset: int | None,
        capacity: int,
    ) -> SlotMap:
        """Roles and writing frames after `frame`.

        `chunks` is the chain from the oldest to the frame's own, each continuing the one before.
        """
        require_sane(cache, capacity)
        roles = np.zeros(capacity, np.uint8)
        frames = np.full(capacity, BEFORE_THE_RUN, np.int32)
        worst = np.zeros(capacity, np.uint8)
        roles[: self._base_offset(cache, chunks[0])] = SlotRole.VOICE
        base = self._base_worst(cache, chunks[0])[:capacity]
        worst[: len(base)] = base
        for chunk in chunks:
            filling = self._filling(cache, chunk.id, phases)
            if filling.is_plain:
                filling.apply(frame, roles, frames, worst)
                continue
            for write in self.writes(cache, chunk.id, frame):
                text = phases.get(write.frame) == "text"
                roles[write.first : write.last] = SlotRole.TEXT if text else SlotRole.GENERATED
                frames[write.first : write.last] = write.frame
                worst[write.first : write.last] = write.worst
        worst[roles == SlotRole.UNWRITTEN] = FINITE
        return SlotMap(cache, roles, frames, worst, offset, capacity)

    def values(self, cache: Cache, chunks: list[Chunk], frame: int, capacity: int) -> Floats:
        """`[2, B, T, H, D]` after `frame`; an unwritten slot holds what it was filled with."""
        require_sane(cache, capacity)
        shape = (2, cache.batch, capacity, cache.heads, cache.dim)
        result = np.full(shape, np.nan, np.float32)
        self._fill_zeros(cache, chunks, result)
        base = self.base_values(cache, chunks[0])
        if base is not None:
            slots = min(base.shape[2], capacity)
            result[:, :, :slots] = base[:, :, :slots]
        numbers = ", ".join(str(chunk.id) for chunk in chunks)
        rows = self._connection.execute(
            'SELECT d.first, d.last, d."values" FROM slot_delta d JOIN frame f ON f.id = d.frame '
            f"WHERE d.cache = ? AND d.frame <= ? AND f.chunk IN ({numbers}) ORDER BY d.id",
            (cache.id, frame),
        )
        for first, last, raw in rows.fetchall():
            delta = as_slots(cache, last - first, raw)
            fitting = max(0, min(last, capacity) - first)
            result[:, :, first : first + fitting] = delta[:, :, :fitting]
        return result

    def _fill_zeros(self, cache: Cache, chunks: list[Chunk], result: Floats) -> None:
        """New slots are NaN in pocket-tts; a fork's expansion may leave zeros instead."""
        for chunk in chunks:
            rows = self._connection.execute(
                "SELECT capacity_before FROM expansion "
                "WHERE chunk = ? AND cache = ? AND fill = 'zero'",
                (chunk.id, cache.id),
            )
            for (first,) in rows.fetchall():
                result[:, :, max(0, int(first)) :] = 0

    def base_values(self, cache: Cache, chunk: Chunk) -> Floats | None:
        """What the cache held when the chunk began, `[2, B, slots, H, D]`, if it is known."""
        row = self._connection.execute(
            'SELECT s.slots, s."values" FROM chunk_base b JOIN snapshot s ON s.id = b.snapshot '
            "WHERE b.chunk = ? AND b.cache = ?",
            (chunk.id, cache.id),
        ).fetchone()
        return None if row is None else as_slots(cache, row[0], row[1])

    def _base_worst(self, cache: Cache, chunk: Chunk) -> NDArray[np.uint8]:
        """The worst number in each slot that the cache held when the chunk began."""
        key = (cache.id, chunk.id)
        if key not in self._bases:
            base = self.base_values(cache, chunk)
            self._bases[key] = np.zeros(0, np.uint8) if base is None else worst_numbers(base)
        return self._bases[key]

    def deltas(self, cache: Cache, first: int, last: int) -> Iterator[tuple[Write, Floats]]:
        """The writes of frames `first` to `last` in order, with the values written."""
        rows = self._connection.execute(
            'SELECT frame, cache, first, last, worst, "values" FROM slot_delta '
            "WHERE cache = ? AND frame BETWEEN ? AND ? ORDER BY id",
            (cache.id, first, last),
        )
        for *row, raw in rows.fetchall():
            write = from_row(Write, row)
            yield write, as_slots(cache, write.last - write.first, raw)

    def _filling(self, cache: Cache, chunk: int, phases: dict[int, str]) -> Filling:
        key = (cache.id, chunk)
        if key not in self._fillings:
            self._fillings[key] = Filling(MOST_FLOATS // max(1, cache.slot_floats))
        filling = self._fillings[key]
        filling.take(self._writes.get(key, []), phases)
        return filling

    def _base_offset(self, cache: Cache, chunk: Chunk) -> int:
        row = self._connection.execute(
            "SELECT offset FROM chunk_base WHERE chunk = ? AND cache = ?", (chunk.id, cache.id)
        ).fetchone()
        return 0 if row is None else max(0, int(row[0]))


def as_slots(cache: Cache, slots: int, raw: bytes) -> Floats:
    """The blob as `[2, B, slots, H, D]`; NaN if no values were recorded.

    Raises:
        ValueError: the blob has another size.
    """
    require_sane(cache, slots)
    shape = (2, cache.batch, slots, cache.heads, cache.dim)
    if len(raw) == 0:
        return np.full(shape, np.nan, np.float32)
    values = np.frombuffer(raw, "<f4")
    return values.reshape(shape)


def require_sane(cache: Cache, slots: int) -> None:
    """A hostile file must not make us allocate what it claims; raises ValueError."""
    if slots < 0 or slots * cache.slot_floats > MOST_FLOATS:
        raise ValueError(f"cache {cache.name} claims {slots} slots")
