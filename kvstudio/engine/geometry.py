"""Which slots, and which cells of them, a strided view of a KV cache covers, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

K, V, BOTH = 0, 1, 2
Cells = NDArray[np.int64]


@dataclass(frozen=True)
class CacheGeometry:
    """A contiguous cache `[2, B, T, H, D]`, measured in elements."""

    batch: int
    slots: int
    heads: int
    dim: int

    @property
    def slot_stride(self) -> int:
        return self.heads * self.dim

    @property
    def cells(self) -> int:
        """How many (K or V, batch, slot, head) there are."""
        return 2 * self.batch * self.slots * self.heads

    @property
    def half(self) -> int:
        """Elements of K, which is where V begins."""
        return self.batch * self.slots * self.slot_stride


@lru_cache(maxsize=4096)
def covered_slots(
    geometry: CacheGeometry, offset: int, shape: tuple[int, ...], stride: tuple[int, ...]
) -> tuple[tuple[int, int, int], ...]:
    """The slot ranges `(kv, first, last)` that a view of the cache's storage covers.

    A view without elements covers nothing; the place where it would have begun is given as an
    empty range, because a write to it is a write that vanishes.

    `offset`, `shape` and `stride` are the view's own, in elements of the storage.
    """
    if 0 in shape:
        slot = offset // geometry.slot_stride % geometry.slots if geometry.slots else 0
        at_end = geometry.slots > 0 and offset > 0 and offset % geometry.half == 0
        slot = geometry.slots if at_end and slot == 0 else slot
        kv = K if offset <= geometry.half else V
        return ((kv, slot, slot),)
    rows = _covered_rows(geometry.slot_stride, offset, shape, stride)
    halves = rows // (geometry.batch * geometry.slots)
    slots = rows % geometry.slots
    ranges = {kv: ranges_of(slots[halves == kv]) for kv in (K, V)}
    if ranges[K] == ranges[V]:
        return tuple((BOTH, first, last) for first, last in ranges[K])
    return tuple((kv, first, last) for kv in (K, V) for first, last in ranges[kv])


def _covered_rows(row: int, offset: int, shape: Sequence[int], stride: Sequence[int]) -> Cells:
    """Which rows of `row` elements are touched, counted from the start of the storage."""
    inner = sum((n - 1) * s for n, s in zip(shape, stride, strict=True) if s < row)
    outer = [(n, s) for n, s in zip(shape, stride, strict=True) if s >= row and n > 1]
    starts = np.array([offset], np.int64)
    for n, s in outer:
        starts = np.unique((starts[:, None] + np.arange(n, dtype=np.int64) * s).ravel())
    if np.all(starts % row + inner < row):
        return np.unique(starts // row)
    # The inner dimensions run across slot borders (a flattened view): look at every element.
    for n, s in ((n, s) for n, s in zip(shape, stride, strict=True) if s < row and n > 1):
        starts = np.unique((starts[:, None] + np.arange(n, dtype=np.int64) * s).ravel())
    return np.unique(starts // row)


def runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The runs of True as half-open ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def ranges_of(slots: Cells) -> tuple[tuple[int, int], ...]:
    """Slot numbers as half-open ranges."""
    slots = np.unique(slots)
    if not len(slots):
        return ()
    breaks = np.flatnonzero(np.diff(slots) > 1)
    firsts = np.concatenate([slots[:1], slots[breaks + 1]])
    lasts = np.concatenate([slots[breaks], slots[-1:]]) + 1
    return tuple(zip(firsts.tolist(), lasts.tolist(), strict=True))


@lru_cache(maxsize=4096)
def covered_cells(
    geometry: CacheGeometry, offset: int, shape: tuple[int, ...], stride: tuple[int, ...]
) -> Cells:
    """The cells (K or V, batch, slot, head) that a view covers, as indices in `[2 * B * T * H]`."""
    if 0 in shape:
        return np.zeros(0, np.int64)
    return _covered_rows(geometry.dim, offset, shape, stride)
