"""Slots, offsets and rotary positions that do not agree."""

from typing import Any

import torch

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch, spoiler
from kvstudio.recording.errors import SpecError


@spoiler("offset-short")
def offset_short(live: Live) -> None:
    by, offset = live.number("by"), live.offset()
    if by > offset:
        raise SpecError(f"{live.edit.recipe}: the offset is {offset}, so it cannot be {by} shorter")
    _move(live, -by)
    voice = live.clock.phase == "voice"
    last = offset if voice else offset - by + 1
    live.note(live.layers(), (offset - by, last), after=(0, 1) if voice else (0,))


@spoiler("offset-long")
def offset_long(live: Live) -> None:
    offset = live.offset()
    _move(live, live.number("by"))
    live.note(live.layers(), (offset, offset + live.number("by")), after=(0, 1))


def _move(live: Live, by: int) -> None:
    for _, entry in live.entries():
        entry["offset"] += by


@patch("stuck-offset")
def stuck_offset(live: Live) -> None:
    _incrementing(live, times=0)


@patch("skewed-offset")
def skewed_offset(live: Live) -> None:
    _incrementing(live, times=0)


@patch("double-step")
def double_step(live: Live) -> None:
    _incrementing(live, times=2)


def _incrementing(live: Live, times: int) -> None:
    """The layers that are hit move their offset on so many times."""

    def increment(original: Any, state: Any, steps: int) -> None:
        for _ in range(times):
            original(state, steps)
        live.note(live.layers(), after=(0, 1))

    attentions = live.attentions()
    for layer in live.layers():
        live.patch(attentions[layer][1]._cache_backend, "increment_step", increment)


@patch("rope-zero")
def rope_zero(live: Live) -> None:
    _turning(live, torch.zeros_like)


@patch("rope-shift")
def rope_shift(live: Live) -> None:
    _turning(live, lambda position: position + live.number("by"))


@patch("rope-clamp")
def rope_clamp(live: Live) -> None:
    limit = live.arguments["limit"]
    last = live.offset() if limit is None else int(limit)
    _turning(live, lambda position: torch.clamp(position, max=last))


def _turning(live: Live, change: Any) -> None:
    """The layers that are hit give the rotary embedding another position."""

    def rope_offset(original: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        right = original(state, *args, **kwargs)
        wrong = change(right)
        if int(wrong) != int(right):
            live.note(live.layers(), (int(right), int(right) + 1))
        return wrong

    attentions = live.attentions()
    for layer in live.layers():
        live.patch(attentions[layer][1]._cache_backend, "rope_offset", rope_offset)


@patch("evict-oldest")
def evict_oldest(live: Live) -> None:
    asked = live.arguments["window"]
    window = live.offset() if asked is None else int(asked)

    def read(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        keys, values = original(cache, offset, k, v)
        if keys.shape[1] > window:
            live.note(live.layers(), (0, keys.shape[1] - window))
        return keys[:, -window:], values[:, -window:]

    live.around_append(read)


@patch("ring-wrap")
def ring_wrap(live: Live) -> None:
    asked = live.arguments["window"]
    window = live.offset() if asked is None else int(asked)

    def write(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        position = int(offset)
        if position < window:
            return original(cache, offset, k, v)
        slot = position % window
        live.note(live.layers(), (slot, slot + 1), (position, position + 1))
        original(cache, torch.full_like(offset, slot), k, v)
        return cache[0, :, :window], cache[1, :, :window]

    live.around_append(write)
