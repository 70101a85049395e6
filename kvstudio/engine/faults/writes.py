"""K and V do not get where they belong."""

from typing import Any

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.pokes import slots_of
from kvstudio.engine.faults.registry import patch, spoiler

HALVES = {"K": 0, "V": 1}


@patch("lost-write")
def lost_write(live: Live) -> None:
    def write(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        begin, end = int(offset), int(offset) + k.shape[1]
        kept = cache.clone()
        result = original(kept, offset, k, v)
        landed = {"K": 1, "V": 0}.get(str(live.arguments["kv"]))
        if landed is not None:
            cache[landed, :, begin:end] = (k, v)[landed]
        live.note(live.layers(), (begin, end))
        return result

    live.around_append(write)


@patch("misplaced-write")
def misplaced_write(live: Live) -> None:
    by = live.number("by")

    def write(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        begin, end = int(offset), int(offset) + k.shape[1]
        original(cache, offset + by, k, v)
        live.note(live.layers(), (begin, min(begin + by, end)))
        return cache[0, :, :end], cache[1, :, :end]

    live.around_append(write)


@patch("swapped-kv")
def swapped_kv(live: Live) -> None:
    def write(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        live.note(live.layers(), (int(offset), int(offset) + k.shape[1]))
        return original(cache, offset, v, k)

    live.around_append(write)


@spoiler("nan-hole")
def nan_hole(live: Live) -> None:
    _fill(live, float("nan"))


@spoiler("zero-hole")
def zero_hole(live: Live) -> None:
    _fill(live, 0.0)


def _fill(live: Live, value: float) -> None:
    for _, entry in live.entries():
        first, last = slots_of(live, entry)
        entry["cache"][:, :, first:last] = value
        live.note(live.layers(), (first, last), after=(0, 1))
