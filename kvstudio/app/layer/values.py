"""The values of one cache, read once and kept: a step of the cursor reads what it has not seen.

For every slot the frame whose write is held stands beside it. A slot map says which frame's write
each slot shows at a moment; where the two differ, and only there, the file is read. So going back
and forth costs nothing, and an overwritten slot is read anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.recording.slots import BEFORE_THE_RUN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Cache, Floats
    from kvstudio.recording.slots import SlotMap

    Slots = NDArray[np.intp]
    BoolArray = NDArray[np.bool_]

NOTHING_HELD = -2
SAMPLED_VALUES = 65_536


@dataclass(frozen=True)
class Facts:
    """What the written slots hold.

    Attributes:
        low, high: of the finite values; None if there are none.
        nan_slots, inf_slots: written slots that hold NaN or Inf in K or V.
    """

    written: int
    low: float | None
    high: float | None
    nan_slots: int
    inf_slots: int


class LayerValues:
    """Values of one cache at the frame last shown.

    Attributes:
        values: float32 `[2, T, B * H * D]`; what stands in unwritten slots has no meaning.
        written: which slots are written, `[T]`.
    """

    def __init__(self, recording: Recording, cache: Cache) -> None:
        self._recording = recording
        self.cache = cache
        self._columns = cache.batch * cache.heads * cache.dim
        self._base_chunk = -1
        self._pool = np.empty((2, 0, self._columns), np.float32)
        self._held = np.empty(0, np.int64)
        self._low = self._high = np.empty(0, np.float32)
        self._nan = self._inf = np.empty(0, np.bool_)
        self.written: BoolArray = np.empty(0, np.bool_)
        self.values: Floats = self._pool

    def show(self, slots: SlotMap, frame: int) -> Slots:
        """Makes the values those of a moment; which slots hold others than before."""
        self._make_room(slots.capacity)
        base = self._recording.chain(frame)[0].id
        if base != self._base_chunk:
            self._base_chunk = base
            self._held[self._held == BEFORE_THE_RUN] = NOTHING_HELD
        self.written = slots.written
        self.values = self._pool[:, : slots.capacity]
        stale = np.flatnonzero(self.written & (self._held[: slots.capacity] != slots.frames))
        if stale.size:
            self._read(stale, slots.frames[stale])
            self._look_at(stale)
        return stale

    def facts(self) -> Facts:
        written = self.written
        seen = slice(0, len(written))
        low, high = self._low[seen][written], self._high[seen][written]
        finite = low <= high
        return Facts(
            written=int(written.sum()),
            low=float(low[finite].min()) if finite.any() else None,
            high=float(high[finite].max()) if finite.any() else None,
            nan_slots=int((self._nan[seen] & written).sum()),
            inf_slots=int((self._inf[seen] & written).sum()),
        )

    def sample(self) -> Floats:
        """Finite values of written slots, at most `SAMPLED_VALUES`; the same ones each time."""
        slots = np.flatnonzero(self.written)
        if slots.size * self._columns * 2 <= SAMPLED_VALUES:
            found = self.values[:, slots].ravel()
        else:
            random = np.random.default_rng(0)
            parts, columns = (random.integers(0, n, SAMPLED_VALUES) for n in (2, self._columns))
            found = self.values[parts, random.choice(slots, SAMPLED_VALUES), columns]
        finite: Floats = found[np.isfinite(found)]
        return finite

    # ---- private ------------------------------------------------------------------------------

    def _make_room(self, capacity: int) -> None:
        missing = capacity - len(self._held)
        if missing <= 0:
            return
        pool = np.full((2, capacity, self._columns), np.nan, np.float32)
        pool[:, : len(self._held)] = self._pool
        self._pool = pool
        self._held = np.pad(self._held, (0, missing), constant_values=NOTHING_HELD)
        self._low, self._high = (np.pad(each, (0, missing)) for each in (self._low, self._high))
        self._nan, self._inf = (np.pad(each, (0, missing)) for each in (self._nan, self._inf))

    def _read(self, stale: Slots, frames: NDArray[np.int32]) -> None:
        """Fills the stale slots of the pool with what each of `frames` wrote there."""
        self._pool[:, stale] = np.nan
        wanted = np.full(len(self._held), NOTHING_HELD, np.int64)
        wanted[stale] = frames
        if (frames == BEFORE_THE_RUN).any():
            base = self._recording.values_before_expansion(self.cache, self._base_chunk)
            if base is not None:
                self._take(base, 0, wanted == BEFORE_THE_RUN)
        recorded = frames[frames > BEFORE_THE_RUN]
        if recorded.size:
            first, last = int(recorded.min()), int(recorded.max())
            for write, values in self._recording.written_values(self.cache, first, last):
                self._take(values, write.first, wanted == write.frame)
        self._held[stale] = frames

    def _take(self, values: Floats, first: int, wanted: BoolArray) -> None:
        """Takes wanted slots from `[2, B, slots, H, D]`, whose slots begin at `first`."""
        here = np.flatnonzero(wanted[first : first + values.shape[2]])
        if here.size:
            self._pool[:, first + here] = as_columns(values[:, :, here])

    def _look_at(self, slots: Slots) -> None:
        """Notes the finite range of some slots, and which of them hold NaN or Inf."""
        values = self._pool[:, slots]
        finite = np.isfinite(values)
        self._low[slots] = np.where(finite, values, np.inf).min(axis=(0, 2), initial=np.inf)
        self._high[slots] = np.where(finite, values, -np.inf).max(axis=(0, 2), initial=-np.inf)
        self._nan[slots] = np.isnan(values).any(axis=(0, 2))
        self._inf[slots] = np.isinf(values).any(axis=(0, 2))


def as_columns(values: Floats) -> Floats:
    """`[2, B, T, H, D]` as `[2, T, B * H * D]`."""
    parts, batch, slots, heads, dim = values.shape
    return np.moveaxis(values, 1, 2).reshape(parts, slots, batch * heads * dim)
