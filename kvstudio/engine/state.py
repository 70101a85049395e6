"""Reads the model's streaming state between steps: offsets, capacities, written slots, tensors.

A model state is what pocket-tts calls one: a dict of tensors per stateful module, looked up by name
at every step, because `_expand_kv_cache` and `copy_state` put new tensors in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from kvstudio.engine import pocket
from kvstudio.engine.contents import (
    Content,
    Sums,
    checksums,
    content,
    nan_slots,
    padded,
    slot_values,
)
from kvstudio.engine.fresh import FreshState
from kvstudio.engine.geometry import runs
from kvstudio.engine.seen_tensor import SeenTensor
from kvstudio.engine.shadow import ShadowMemory, Watched
from kvstudio.recording.evidence import Found, Surprise
from kvstudio.recording.rows import Cache, CacheState, SlotDelta, TensorState

ModelState = Mapping[str, Mapping[str, torch.Tensor]]
NOT_LOOKED_AT = 0


@dataclass
class CacheWatch:
    """One cache as it was last seen: its offset, the checksum of every slot, which hold NaN."""

    row: Cache
    offset: int | None = None
    sums: Sums = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    nan: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))


class Entry(NamedTuple):
    """What a step found: the offset of each cache by its id, and what nobody had left so."""

    found: dict[int, int | None]
    surprises: list[Surprise]


class StateWatch:
    """Follows the state of FlowLM or of Mimi through the frames of a chunk.

    Args:
        model: `flow_lm` or `mimi`.
        rows: the caches of that model, by state key.
        look: whether to look at the content; if not, slots are taken as written where the offset
            moved, and tensors are left alone.
        fresh: what such a state is like when it has just been made, if that is known.
    """

    def __init__(
        self, model: str, rows: Mapping[str, Cache], *, look: bool, fresh: FreshState | None = None
    ) -> None:
        self.model = model
        self._look = look
        self._fresh = fresh
        self._caches = {name: CacheWatch(row) for name, row in rows.items()}
        self._tensors: dict[tuple[str, str], SeenTensor] = {}
        self._left: Mapping[tuple[str, str], Content] = {}
        self._should_be_fresh = False
        self._shadow = ShadowMemory(rows)

    def begin(self, state: ModelState, *, new: bool = False) -> None:
        """Takes the state as it is for what later steps find and change.

        Args:
            state: of a chunk that begins.
            new: it should be as if just made, and is held against that at its first step.
        """
        self._shadow.begin(state)
        fresh = self._fresh if new else None
        self._should_be_fresh = fresh is not None
        for watch, cache in self._present(state):
            watch.offset = offset_of(state[watch.row.name])
            if self._look:
                sums = checksums(cache)
                watch.sums = sums if fresh is None else fresh.sums(watch.row.name, sums)
                watch.nan = nan_slots(cache)
        if self._look:
            self._left = self._contents(state) if fresh is None else fresh.contents

    def entry(self, state: ModelState) -> Entry:
        """What a step finds, compared with what the one before left; call before it runs."""
        found = {
            watch.row.id: offset_of(state[watch.row.name]) for watch, _ in self._present(state)
        }
        if not self._look:
            return Entry(found, [])
        surprises = [
            Surprise(self.model, entry, key, self._found((entry, key), now))
            for (entry, key), was, now in self._compared(state)
            if was != now
        ]
        for watch, cache in self._present(state):
            surprises += self._changed_slots(watch, cache, found[watch.row.id])
        return Entry(found, surprises)

    def watched(self, state: ModelState) -> Watched:
        """For a tracer: the caches whose slots it is to follow."""
        return Watched(self._shadow, state)

    def after(
        self, state: ModelState, touched: Mapping[int, Sequence[tuple[int, int]]] | None = None
    ) -> tuple[list[CacheState], list[SlotDelta], list[TensorState]]:
        """What a step did: every cache's offset, the slots that were written, changed tensors.

        Args:
            state: the state after the step.
            touched: slot ranges written by ops, by cache id; they find writes of equal values.
        """
        self._should_be_fresh = False
        if not self._look:
            return *self._moved_offsets(state), []
        states, deltas = [], []
        written_caches = set()
        for watch, cache in self._present(state):
            offset = offset_of(state[watch.row.name])
            written = self._written(watch, cache, offset, (touched or {}).get(watch.row.id, ()))
            if written:
                written_caches.add(watch.row.name)
            for first, last in written:
                watch.nan[first:last] = nan_slots(cache[:, :, first:last])
                values = slot_values(cache, first, last)
                deltas.append(SlotDelta(watch.row.id, first, last, values))
            watch.offset = offset
            nan = int(watch.nan.sum())
            states.append(CacheState(watch.row.id, watch.offset, cache.shape[2], nan))
        changed = self._changed_tensors(state, written_caches)
        self._left = {
            key: seen.content
            for key, seen in self._tensors.items()
            if not self._is_cache(key) and key[1] in state.get(key[0], {})
        }
        return states, deltas, changed

    # ---- private ------------------------------------------------------------------------------

    def _moved_offsets(self, state: ModelState) -> tuple[list[CacheState], list[SlotDelta]]:
        """Offsets and capacities alone; the slots the offset passed count as written."""
        states, deltas = [], []
        for watch, cache in self._present(state):
            offset, capacity = offset_of(state[watch.row.name]), cache.shape[2]
            first, last = watch.offset or 0, min(offset or 0, capacity)
            if first < last and not pocket.is_encoder(watch.row.name):
                deltas.append(SlotDelta(watch.row.id, first, last, None))
            watch.offset = offset
            states.append(CacheState(watch.row.id, offset, capacity, NOT_LOOKED_AT))
        return states, deltas

    def _present(self, state: ModelState) -> list[tuple[CacheWatch, torch.Tensor]]:
        found = []
        for name, watch in self._caches.items():
            cache = state.get(name, {}).get("cache")
            if cache is not None:
                found.append((watch, cache))
        return found

    def _written(
        self,
        watch: CacheWatch,
        cache: torch.Tensor,
        offset: int | None,
        touched: Sequence[tuple[int, int]],
    ) -> list[tuple[int, int]]:
        sums, grown, offset = checksums(cache), 0, offset or 0
        if sums.shape != watch.sums.shape:  # replaced by a tensor of another capacity
            grown = sums.shape[1] > watch.sums.shape[1] and (watch.offset or 0)
            watch.nan = nan_slots(cache)
            watch.sums = padded(watch.sums, sums)
        changed = (sums != watch.sums).any(0)
        if grown:  # what it moved its offset over was written into a tensor nobody watched
            new = cache[:, :, grown:offset].detach()
            blank = (torch.isnan(new) | (new == 0)).all(4).all(3).all(1).all(0)
            changed[grown : grown + len(blank)] |= ~blank.cpu().numpy()
        for first, last in touched:
            changed[first:last] = True
        watch.sums = sums
        return runs(changed)

    def _changed_tensors(self, state: ModelState, written_caches: set[str]) -> list[TensorState]:
        changed = []
        for entry, tensors in state.items():
            for key, tensor in tensors.items():
                seen = self._tensors.get((entry, key))
                if seen is None:
                    seen = self._tensors[entry, key] = SeenTensor()
                is_cache = self._is_cache((entry, key))
                nan = int(self._caches[entry].nan.sum()) if is_cache else None
                if seen.look(tensor, nan, is_cache=is_cache) or (
                    is_cache and entry in written_caches
                ):
                    changed.append(seen.row(self.model, entry, key, tensor, nan))
        return changed

    def _is_cache(self, key: tuple[str, str]) -> bool:
        return key[1] == "cache" and key[0] in self._caches

    def _contents(self, state: ModelState) -> dict[tuple[str, str], Content]:
        return {
            (entry, key): content(tensor)
            for entry, tensors in state.items()
            for key, tensor in tensors.items()
            if not self._is_cache((entry, key))
        }

    def _compared(
        self, state: ModelState
    ) -> list[tuple[tuple[str, str], Content | None, Content | None]]:
        """Every tensor but the caches, as it was left and as it is now; None: there is none."""
        now = self._contents(state)
        keys = dict.fromkeys([*self._left, *now])
        return [(key, self._left.get(key), now.get(key)) for key in keys]

    def _found(self, key: tuple[str, str], now: Content | None) -> Found:
        if self._fresh is None:
            return "changed"
        if self._should_be_fresh:
            return "not fresh"
        return "fresh" if now is not None and self._fresh.contents.get(key) == now else "changed"

    def _changed_slots(
        self, watch: CacheWatch, cache: torch.Tensor, offset: int | None
    ) -> list[Surprise]:
        """Used slots that are not as they were left; what lies past the offset is nobody's."""
        used = min(max(watch.offset or 0, offset or 0), cache.shape[2])
        sums, was = checksums(cache, used), watch.sums[:, :used]
        if len(sums) != len(was):
            changed = np.ones(used, bool)
        else:
            changed = (sums != padded(was, sums)).any(0)
        if not changed.any():
            return []
        kinds: dict[Found, NDArray[np.bool_]] = {"changed": changed}
        if self._fresh is not None:
            fresh = self._fresh.slots(watch.row.name, sums)
            kinds = {"changed": changed & ~fresh, "fresh": changed & fresh}
            if self._should_be_fresh:
                kinds = {"not fresh": changed}
        return [
            Surprise(self.model, watch.row.name, "cache", found, first, last)
            for found, slots in kinds.items()
            for first, last in runs(slots)
        ]


def offset_of(entry: Mapping[str, torch.Tensor]) -> int | None:
    offset = entry.get("offset")
    if offset is None or offset.numel() == 0 or offset.device.type == "meta":
        return None
    if offset.numel() == 1:  # nearly always, and this is asked for many times a frame
        return int(offset.item())
    return int(offset.detach().reshape(-1)[0])
