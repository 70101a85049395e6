"""Shadow memory: of every cell of a KV cache who wrote it, whatever its value.

A cell is the K or the V of one slot and head. NaN is a poor witness of what was never written: an
int8 linear turns it into finite numbers, a comparison hides it, and a cache that is filled with
zeros has none. So the shadow follows writes and copies instead, after MemorySanitizer
(Stepanov and Serebryany, CGO 2015): copies carry the shadow along, uses are judged.

Tensors are known by their storage object, never by address: addresses are used again at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kvstudio.engine.geometry import CacheGeometry, Cells, covered_cells, covered_slots
from kvstudio.recording.evidence import Fill
from kvstudio.recording.rows import Cache

NOBODY = -1
LEFT_OVER = -2  # an earlier run, past the offset: free to be written, not to be read
BASE = 0  # what was there when the chunk began counts as written by the voice prefill
ModelState = Mapping[str, Mapping[str, torch.Tensor]]


@dataclass
class CacheShadow:
    """The shadow of one cache `[2, B, T, H, D]`.

    Attributes:
        writer: the frame that wrote each cell last, NOBODY or LEFT_OVER, `[2 * B * T * H]`.
        nan, zero: whether a cell holds a NaN, and whether it is all zero; of unwritten cells, what
            they were filled with.
        offset, pad: those of the state when the step began.
        first_label: number of the cache's first cell among the cells of all caches.
    """

    row: Cache
    geometry: CacheGeometry
    storage: Any
    writer: NDArray[np.int32]
    nan: NDArray[np.bool_]
    zero: NDArray[np.bool_]
    offset: int = 0
    pad: int = 0
    first_label: int = 1

    def slots_of(self, cells: Cells) -> Cells:
        return cells // self.geometry.heads % self.geometry.slots

    def halves_of(self, cells: Cells) -> Cells:
        """0 for K, 1 for V."""
        return cells // (self.geometry.cells // 2)

    def heads_of(self, cells: Cells) -> Cells:
        return cells % self.geometry.heads

    def fill_of(self, cells: Cells) -> Fill:
        """What the cells hold that nobody wrote."""
        if self.nan[cells].any():
            return "nan"
        return "zero" if self.zero[cells].all() else "other"

    def end(self, frame: int) -> int:
        """The slot after the last one that belongs to the run, in the course of `frame`."""
        new = np.flatnonzero(self.writer == frame)
        return max(self.offset, int(self.slots_of(new).max()) + 1 if len(new) else 0)

    def cells_of(self, view: torch.Tensor) -> Cells:
        """The cells that a view of the cache's storage covers."""
        return covered_cells(self.geometry, *_place(view))

    def ranges_of(self, view: torch.Tensor) -> tuple[tuple[int, int, int], ...]:
        """The slot ranges (kv, first, last) that it covers."""
        return covered_slots(self.geometry, *_place(view))


@dataclass
class ShadowMemory:
    """The shadows of all caches of FlowLM or of Mimi.

    Args:
        rows: the caches, by state key.

    Attributes:
        caches: by state key; those that the state at hand has.
        copies: for a storage that holds copies, the label of the cell that each of its elements
            was copied from: 0 is none, and negative that the cell was unwritten.
    """

    rows: Mapping[str, Cache]
    caches: dict[str, CacheShadow] = field(default_factory=dict)
    copies: dict[Any, torch.Tensor] = field(default_factory=dict)
    _starts: dict[str, set[int]] = field(default_factory=dict)  # offsets where chunks began

    def begin(self, state: ModelState) -> None:
        """A chunk begins on `state`; a cache that was followed already keeps its history.

        One that was set back to where an earlier chunk began is to be written again from there.
        """
        for name, cache in self._present(state):
            known, start = self.caches.get(name), number(state[name], "offset")
            starts = self._starts.setdefault(name, set())
            if known is not None and known.storage is not cache.untyped_storage():
                del self.caches[name]
                starts.clear()
            elif known is not None and start in starts:
                later = known.slots_of(np.arange(known.geometry.cells)) >= start
                known.writer[later & (known.writer != NOBODY)] = LEFT_OVER
            starts.add(start)

    def bind(self, state: ModelState) -> dict[Any, str]:
        """Looks the caches up by name, as a step is about to begin; their keys, by storage."""
        keys: dict[Any, str] = {}
        label = 1
        for name, cache in self._present(state):
            storage = cache.untyped_storage()
            shadow = self.caches.get(name)
            if shadow is None or shadow.storage is not storage or shadow.geometry != shape(cache):
                shadow = self.caches[name] = self._shadow_of(name, cache, state[name], shadow)
            shadow.offset, shadow.pad = number(state[name], "offset"), number(state[name], "pad")
            keys[storage] = name
        for shadow in self.caches.values():
            shadow.first_label = label
            label += shadow.geometry.cells
        self.copies.clear()
        return keys

    def labels(self, shadow: CacheShadow, view: torch.Tensor) -> torch.Tensor:
        """The label of every element of a view of a cache, in the view's shape."""
        cells = torch.arange(shadow.geometry.cells, dtype=torch.int32) + shadow.first_label
        cells[torch.from_numpy(shadow.writer == NOBODY)] *= -1
        elements = cells.repeat_interleave(shadow.geometry.dim)
        return elements.as_strided(view.shape, view.stride(), view.storage_offset())

    def cells_of_labels(
        self, labels: torch.Tensor
    ) -> list[tuple[CacheShadow, Cells, NDArray[np.bool_]]]:
        """Cells that labels name, by cache, and which of them were unwritten when copied."""
        named = torch.unique(labels).numpy()
        named = named[named != 0]
        found = []
        for shadow in self.caches.values():
            cells = np.abs(named) - shadow.first_label
            own = (cells >= 0) & (cells < shadow.geometry.cells)
            if own.any():
                found.append((shadow, cells[own].astype(np.int64), named[own] < 0))
        return found

    # ---- private ------------------------------------------------------------------------------

    def _present(self, state: ModelState) -> Sequence[tuple[str, torch.Tensor]]:
        found = [(name, state.get(name, {}).get("cache")) for name in self.rows]
        return [
            (name, cache)
            for name, cache in found
            if cache is not None and cache.device.type != "meta" and _is_alone(cache)
        ]

    def _shadow_of(
        self,
        name: str,
        cache: torch.Tensor,
        entry: Mapping[str, torch.Tensor],
        before: CacheShadow | None,
    ) -> CacheShadow:
        """The shadow of a cache not met before, or put in the place of the one before."""
        geometry, storage = shape(cache), cache.untyped_storage()
        content = cache.detach().cpu()
        made = CacheShadow(
            row=self.rows[name],
            geometry=geometry,
            storage=storage,
            writer=np.full(geometry.cells, NOBODY, np.int32),
            nan=torch.isnan(content).any(4).reshape(-1).numpy(),
            zero=(content == 0).all(4).reshape(-1).numpy(),
        )
        if before is None:
            self._take_as_written(made, number(entry, "offset"), content)
        elif storage in self.copies:
            self._carry(before, made, self.copies[storage])
            self._take_as_grown(made, number(entry, "offset"), content)
        else:
            keep = _same_slots(before, made)
            made.writer[keep[1]] = before.writer[keep[0]]
            self._take_as_grown(made, number(entry, "offset"), content, before.geometry.slots)
        return made

    def _take_as_grown(
        self, made: CacheShadow, offset: int, content: torch.Tensor, first: int = 0
    ) -> None:
        """A step that grew its cache wrote into the new tensor before anybody knew of it."""
        blank = torch.isnan(content).all(4).reshape(-1).numpy()
        slots = made.slots_of(np.arange(made.geometry.cells))
        grown = (slots >= first) & (slots < offset) & ~blank & ~made.zero
        made.writer[grown & (made.writer == NOBODY)] = BASE

    def _take_as_written(self, made: CacheShadow, offset: int, content: torch.Tensor) -> None:
        """Slots below the offset are somebody's, unless they hold nothing but NaN.

        Numbers past it were left by whoever used the state before and set the offset back.
        """
        blank = torch.isnan(content).all(4).reshape(-1).numpy()
        below = made.slots_of(np.arange(made.geometry.cells)) < offset
        made.writer[below & ~blank] = BASE
        made.writer[~below & ~blank & ~made.zero] = LEFT_OVER

    def _carry(self, before: CacheShadow, made: CacheShadow, labels: torch.Tensor) -> None:
        """An expansion was seen to copy: cells keep the writer of the cell they came from."""
        source = np.abs(labels.numpy()[:: made.geometry.dim][: made.geometry.cells])
        source = source - before.first_label
        known = (source >= 0) & (source < before.geometry.cells)
        made.writer[: len(source)][known] = before.writer[source[known]]


@dataclass(frozen=True)
class Watched:
    """What a tracer is to watch: the caches of `state`, bound when the step begins."""

    memory: ShadowMemory
    state: ModelState

    def bind(self) -> dict[Any, str]:
        return self.memory.bind(self.state)


def _place(view: torch.Tensor) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Where in its storage a view lies: offset, shape and strides, in elements."""
    return int(view.storage_offset()), tuple(view.shape), tuple(view.stride())


def shape(cache: torch.Tensor) -> CacheGeometry:
    """Of a cache `[2, B, T, H, D]`."""
    _, batch, slots, heads, dim = cache.shape
    return CacheGeometry(batch, slots, heads, dim)


def _is_alone(cache: torch.Tensor) -> bool:
    """Whether a cache has a storage of its own, in the usual order; others are not followed."""
    whole = cache.numel() * cache.element_size() == cache.untyped_storage().nbytes()
    return cache.dim() == 5 and cache.is_contiguous() and whole


def number(entry: Mapping[str, torch.Tensor], key: str) -> int:
    """A whole number of the state, 0 if there is none."""
    tensor = entry.get(key)
    if tensor is None or tensor.numel() == 0 or tensor.device.type == "meta":
        return 0
    return int(tensor.detach().reshape(-1)[0])


def _same_slots(before: CacheShadow, made: CacheShadow) -> tuple[Cells, Cells]:
    """The cells of the slots that both have, in each; nothing if their heads differ."""
    old, new = before.geometry, made.geometry
    if (old.batch, old.heads) != (new.batch, new.heads):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    slots = min(old.slots, new.slots)
    grids = [
        np.arange(each.cells).reshape(2, each.batch, each.slots, each.heads)[:, :, :slots]
        for each in (old, new)
    ]
    return grids[0].ravel(), grids[1].ravel()
