"""Reads the model's streaming state between steps: offsets, capacities, written slots, tensors.

A model state is what pocket-tts calls one: a dict of tensors per stateful module, looked up by name
at every step, because `_expand_kv_cache` and `copy_state` put new tensors in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from kvstudio.engine import pocket
from kvstudio.engine.geometry import runs
from kvstudio.engine.shadow import ShadowMemory, Watched
from kvstudio.recording.rows import Cache, CacheState, Floats, SlotDelta, TensorState

ModelState = Mapping[str, Mapping[str, torch.Tensor]]
NOT_LOOKED_AT = 0
INTEGER_OF_SIZE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass
class CacheWatch:
    """What is known of one cache: which slots hold NaN, and a fingerprint of every slot."""

    row: Cache
    offset: int | None = None
    prints: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    nan: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))


class StateWatch:
    """Follows the state of FlowLM or of Mimi through the frames of a chunk.

    Args:
        model: `flow_lm` or `mimi`.
        rows: the caches of that model, by state key.
        look: whether to look at the content; if not, slots are taken as written where the offset
            moved, and tensors are left alone.
    """

    def __init__(self, model: str, rows: Mapping[str, Cache], *, look: bool) -> None:
        self.model = model
        self._look = look
        self._caches = {name: CacheWatch(row) for name, row in rows.items()}
        self._tensors: dict[tuple[str, str], _SeenTensor] = {}
        self._shadow = ShadowMemory(rows)

    def begin(self, state: ModelState) -> None:
        """Takes the state as it is for what later frames change."""
        self._shadow.begin(state)
        for watch, cache in self._present(state):
            watch.offset = offset_of(state[watch.row.name])
            if self._look:
                watch.prints = fingerprints(cache)
                watch.nan = nan_slots(cache)

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
        if not self._look:
            return *self._moved_offsets(state), []
        states, deltas = [], []
        written_caches = set()
        for watch, cache in self._present(state):
            written = self._written(watch, cache, (touched or {}).get(watch.row.id, ()))
            if written:
                written_caches.add(watch.row.name)
            for first, last in written:
                watch.nan[first:last] = nan_slots(cache[:, :, first:last])
                values = slot_values(cache, first, last)
                deltas.append(SlotDelta(watch.row.id, first, last, values))
            offset = offset_of(state[watch.row.name])
            states.append(CacheState(watch.row.id, offset, cache.shape[2], int(watch.nan.sum())))
        return states, deltas, self._changed_tensors(state, written_caches)

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
        self, watch: CacheWatch, cache: torch.Tensor, touched: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        prints = fingerprints(cache)
        if prints.shape != watch.prints.shape:  # replaced by a tensor of another capacity
            watch.nan = nan_slots(cache)
            watch.prints = _padded(watch.prints, prints)
        changed = (prints != watch.prints).any(0)
        for first, last in touched:
            changed[first:last] = True
        watch.prints = prints
        return runs(changed)

    def _changed_tensors(self, state: ModelState, written_caches: set[str]) -> list[TensorState]:
        changed = []
        for entry, tensors in state.items():
            for key, tensor in tensors.items():
                seen = self._tensors.get((entry, key))
                if seen is None:
                    seen = self._tensors[entry, key] = _SeenTensor()
                is_cache = key == "cache" and entry in self._caches
                nan = int(self._caches[entry].nan.sum()) if is_cache else None
                if seen.look(tensor, nan, content=not is_cache) or (
                    is_cache and entry in written_caches
                ):
                    changed.append(seen.row(self.model, entry, key, tensor, nan))
        return changed


class _SeenTensor:
    """One tensor of the state as it was when last looked at."""

    def __init__(self) -> None:
        self._identity: object = None
        self._content: bytes = b""
        self._storage: object = None
        self.generation = -1

    def look(self, tensor: torch.Tensor, nan: int | None, *, content: bool) -> bool:
        """Whether anything about it differs from the last look."""
        storage = tensor.untyped_storage()
        if storage is not self._storage:
            self._storage = storage
            self.generation += 1
        identity = (tensor.shape, tensor.dtype, tensor.device, self.generation, nan)
        raw = raw_bytes(tensor) if content else b""
        differs = identity != self._identity or raw != self._content
        self._identity, self._content = identity, raw
        return differs

    def row(
        self, model: str, entry: str, key: str, tensor: torch.Tensor, nan: int | None
    ) -> TensorState:
        return TensorState(
            model=model,
            entry=entry,
            key=key,
            shape=str(list(tensor.shape)),
            dtype=str(tensor.dtype).removeprefix("torch."),
            device=str(tensor.device),
            nan_count=_count_nan(tensor) if nan is None else nan,
            value="" if nan is not None else summary(tensor),
            storage=self.generation,
        )


def offset_of(entry: Mapping[str, torch.Tensor]) -> int | None:
    offset = entry.get("offset")
    if offset is None or offset.numel() == 0 or offset.device.type == "meta":
        return None
    return int(offset.detach().reshape(-1)[0])


def fingerprints(cache: torch.Tensor) -> NDArray[np.int64]:
    """The bits of one number of K and V per slot, `[2 * B, T]`.

    Writing a slot changes them, unless it writes the same number or leaves that number alone; such
    a write is found by its op, at full trace.
    """
    probe = cache.detach()[:, :, :, 0, 0]  # [2, B, T]
    if cache.device.type == "meta":
        return np.zeros((2 * cache.shape[1], cache.shape[2]), np.int64)
    bits = probe.contiguous().cpu().view(INTEGER_OF_SIZE[probe.element_size()])
    return bits.reshape(-1, cache.shape[2]).numpy().astype(np.int64)


def nan_slots(cache: torch.Tensor) -> NDArray[np.bool_]:
    """Which slots of `[2, B, T, H, D]` hold a NaN in K or V, `[T]`."""
    if cache.device.type == "meta" or not cache.is_floating_point():
        return np.zeros(cache.shape[2], bool)
    found: NDArray[np.bool_] = torch.isnan(cache.detach()).any(4).any(3).any(1).any(0).cpu().numpy()
    return found


def slot_values(cache: torch.Tensor, first: int, last: int) -> Floats | None:
    """K and V of some slots, `[2, B, last - first, H, D]`, copied; None on `meta`."""
    if cache.device.type == "meta":
        return None
    part = cache.detach()[:, :, first:last]
    values: Floats = part.to("cpu", torch.float32, copy=True).numpy()
    return values


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The tensor's content bit for bit, so that NaN equals NaN."""
    if tensor.device.type == "meta" or tensor.numel() == 0:
        return b""
    flat = tensor.detach().contiguous().cpu().reshape(-1)
    return (
        flat.view(torch.uint8).numpy().tobytes()
        if tensor.dtype != torch.bool
        else flat.numpy().tobytes()
    )


def summary(tensor: torch.Tensor) -> str:
    """The number itself, or the range of the finite ones."""
    if tensor.device.type == "meta" or tensor.numel() == 0:
        return ""
    array = tensor.detach().cpu().to(torch.float64).numpy()
    if array.size == 1:
        return str(tensor.detach().reshape(-1)[0].item())
    finite = array[np.isfinite(array)]
    return f"{finite.min():.4g} .. {finite.max():.4g}" if finite.size else "nothing finite"


def _count_nan(tensor: torch.Tensor) -> int:
    if tensor.device.type == "meta" or not tensor.is_floating_point():
        return 0
    return int(torch.isnan(tensor.detach()).sum())


def _padded(old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.int64]:
    """The old fingerprints in the new capacity; new slots count as unwritten whatever they hold."""
    padded: NDArray[np.int64] = new.copy()
    if old.shape[0] == new.shape[0]:
        slots = min(old.shape[1], new.shape[1])
        padded[:, :slots] = old[:, :slots]
    return padded
