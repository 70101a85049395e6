"""Measures, bit for bit, what `_expand_kv_cache` did to every cache."""

from collections.abc import Mapping

import numpy as np
import torch

from kvstudio.engine.contents import INTEGER_OF_SIZE, nan_slots
from kvstudio.engine.geometry import runs
from kvstudio.engine.state import ModelState
from kvstudio.recording.rows import Cache, Expansion

SlotBits = torch.Tensor


def caches_of(state: ModelState) -> dict[str, torch.Tensor]:
    """The cache tensors as they are now; an expansion replaces them in the state."""
    return {name: entry["cache"] for name, entry in state.items() if "cache" in entry}


def measure(
    chunk: int,
    before: Mapping[str, torch.Tensor],
    after: Mapping[str, torch.Tensor],
    rows: Mapping[str, Cache],
) -> list[Expansion]:
    """One row a cache: capacities, the first old slot that changed, the first new one not NaN."""
    return [
        _one(chunk, rows[name].id, old, after[name])
        for name, old in before.items()
        if name in after and name in rows
    ]


def damaged_slots(
    before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor], rows: Mapping[str, Cache]
) -> dict[int, list[tuple[int, int]]]:
    """Ranges of old slots that the expansion changed, by cache id."""
    damaged = {}
    for name, old in before.items():
        if name in after and name in rows:
            ranges = runs(_changed(old, after[name]).numpy())
            if ranges:
                damaged[rows[name].id] = ranges
    return damaged


def _one(chunk: int, cache: int, old: torch.Tensor, new: torch.Tensor) -> Expansion:
    old_slots, new_slots = old.shape[2], new.shape[2]
    fresh = new[:, :, old_slots:]
    return Expansion(
        chunk=chunk,
        cache=cache,
        capacity_before=old_slots,
        capacity_after=new_slots,
        changed_slot=_first(_changed(old, new)),
        not_nan_slot=_first_not_nan(fresh, old_slots),
        fill=_fill(fresh),
    )


def _changed(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """Which slots of `old` do not have the same bits in `new`, `[T]`."""
    kept = new[:, :, : old.shape[2]]
    if old.device.type == "meta" or kept.device.type == "meta":
        return torch.zeros(old.shape[2], dtype=torch.bool)
    if kept.shape != old.shape or kept.dtype != old.dtype:
        return torch.ones(min(old.shape[2], new.shape[2]), dtype=torch.bool)
    return (_bits(old) != _bits(kept)).any(4).any(3).any(1).any(0)


def _first_not_nan(fresh: torch.Tensor, first_slot: int) -> int | None:
    if fresh.shape[2] == 0 or fresh.device.type == "meta":
        return None
    all_nan = torch.isnan(fresh).all(4).all(3).all(1).all(0)
    found = _first(~all_nan)
    return None if found is None else first_slot + found


def _fill(fresh: torch.Tensor) -> str:
    if fresh.shape[2] == 0:
        return "none"
    if fresh.device.type == "meta":
        return "other"
    if not bool(nan_slots(fresh).all()):
        return "zero" if bool((fresh == 0).all()) else "other"
    return "nan" if bool(torch.isnan(fresh).all()) else "other"


def _bits(cache: torch.Tensor) -> SlotBits:
    return cache.detach().contiguous().view(INTEGER_OF_SIZE[cache.element_size()]).cpu()


def _first(mask: torch.Tensor) -> int | None:
    found = np.flatnonzero(mask.cpu().numpy())
    return int(found[0]) if len(found) else None
