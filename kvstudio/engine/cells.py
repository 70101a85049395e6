"""Cells of a cache: where an argument lies, as slot ranges, under a mask."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kvstudio.engine.geometry import BOTH, Cells, K, V, runs
from kvstudio.engine.shadow import CacheShadow


@dataclass(frozen=True)
class Lying:
    """Cells of one cache that an argument lies on, or is a copy of.

    Attributes:
        unwritten: which of them nobody had written when they were copied, or by now.
        known: the slot ranges of the cells, where they are looked up and need not be worked out.
    """

    shadow: CacheShadow
    cells: Cells
    unwritten: NDArray[np.bool_]
    known: tuple[tuple[int, int, int], ...] | None = None

    @property
    def ranges(self) -> Sequence[tuple[int, int, int]]:
        """Slot ranges (kv, first, last)."""
        return slot_ranges(self.shadow, self.cells) if self.known is None else self.known


def slot_ranges(shadow: CacheShadow, cells: Cells) -> list[tuple[int, int, int]]:
    """(kv, first, last) that cells make up; K and V together where they are the same slots."""
    if not len(cells):
        return []
    covered = np.zeros((2, shadow.geometry.slots), bool)
    covered[shadow.halves_of(cells), shadow.slots_of(cells)] = True
    found = [runs(half) for half in covered]
    if found[K] == found[V]:
        return [(BOTH, first, last) for first, last in found[K]]
    return [(kv, first, last) for kv in (K, V) for first, last in found[kv]]


def masked_cells(shadow: CacheShadow, target: Tensor, mask: Tensor) -> Cells:
    """The cells of those elements of `target` that a mask of its shape picks."""
    count = shadow.geometry.cells * shadow.geometry.dim
    picked = torch.zeros(count, dtype=torch.bool)
    picked.as_strided(target.shape, target.stride(), target.storage_offset()).copy_(mask)
    cells: Cells = np.flatnonzero(picked.view(-1, shadow.geometry.dim).any(1).numpy())
    return cells


def beginning(shadow: CacheShadow, target: Tensor) -> tuple[int, int]:
    """(kv, slot) at which a view without elements would begin."""
    geometry = shadow.geometry
    offset = int(target.storage_offset())
    row = offset // geometry.slot_stride
    at_end = offset > 0 and offset % geometry.half == 0
    slot = geometry.slots if at_end else row % geometry.slots
    return (K if offset <= geometry.half else V), slot
