"""The cache has too little room, or its expansion damages it."""

from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch, spoiler
from kvstudio.engine.state import offset_of
from kvstudio.recording.errors import SpecError


def _expanding(live: Live, expand: Any) -> None:
    """`expand` is called with original, state, length wherever the model expands."""

    def call(original: Any, *args: Any, **kwargs: Any) -> Any:
        named = dict(zip(("model_state", "sequence_length"), args, strict=False), **kwargs)
        live.state = named["model_state"]
        return expand(original, named["model_state"], int(named["sequence_length"]))

    live.through("expand", call)


@patch("shrink-expansion")
def shrink_expansion(live: Live) -> None:
    def expand(original: Any, state: Any, length: int) -> Any:
        room = live.number("room")
        capacity = _end(live) + _tokens(live, length) + room
        live.note(live.layers(), (capacity, capacity + 1), after=(1 + room,))
        return original(state, min(length, capacity))

    _expanding(live, expand)


@patch("shrink-for-text")
def shrink_for_text(live: Live) -> None:
    def expand(original: Any, state: Any, length: int) -> Any:
        end, tokens = _end(live), _tokens(live, length)
        live.note(live.layers(), (end, end + tokens))
        return original(state, end + min(live.number("room"), tokens - 1))

    _expanding(live, expand)


@patch("no-expansion")
def no_expansion(live: Live) -> None:
    def expand(original: Any, state: Any, length: int) -> None:
        live.note(live.layers(), (_end(live), _end(live) + _tokens(live, length)))

    _expanding(live, expand)


@spoiler("short-layer")
def short_layer(live: Live) -> None:
    room, offset = live.number("room"), live.offset()
    for _, entry in live.entries():
        entry["cache"] = entry["cache"][:, :, : offset + room].clone()
    live.note(live.layers(), (offset + room, offset + room + 1), after=(room,))


@patch("expand-overwrites-old")
def expand_overwrites_old(live: Live) -> None:
    def expand(original: Any, state: Any, length: int) -> Any:
        result = original(state, length)
        end, count = _end(live), live.number("count")
        for _, entry in live.entries():
            entry["cache"][:, :, :count] = entry["cache"][:, :, end - count : end]
        live.note(live.layers(), (0, count))
        return result

    _expanding(live, expand)


@patch("expand-drops-last")
def expand_drops_last(live: Live) -> None:
    def expand(original: Any, state: Any, length: int) -> Any:
        result = original(state, length)
        end, count = _end(live), live.number("count")
        for _, entry in live.entries():
            entry["cache"][:, :, max(0, end - count) : end] = float("nan")
        live.note(live.layers(), (max(0, end - count), end))
        return result

    _expanding(live, expand)


@patch("expand-not-nan")
def expand_not_nan(live: Live) -> None:
    generator = torch.Generator().manual_seed(1)

    def expand(original: Any, state: Any, length: int) -> Any:
        before = {layer: entry["cache"].shape[2] for layer, entry in live.entries()}
        result = original(state, length)
        for layer, entry in live.entries():
            new = entry["cache"][:, :, before[layer] :]
            new.copy_(_filling(live, entry["cache"], before[layer], generator))
            live.note(live.layers(), (before[layer], entry["cache"].shape[2]))
        return result

    _expanding(live, expand)


def _filling(
    live: Live, cache: torch.Tensor, first: int, generator: torch.Generator
) -> torch.Tensor:
    """What the slots from `first` on are to hold."""
    new = cache[:, :, first:]
    if live.arguments["fill"] == "noise":
        return torch.randn(new.shape, generator=generator).to(new)
    if live.arguments["fill"] == "old":
        return cache[:, :, torch.arange(new.shape[2], device=cache.device) % first]
    return torch.zeros_like(new)


def _end(live: Live) -> int:
    """The offset at which the text will begin."""
    return offset_of(next(iter(live.state.values()))) or 0


def _tokens(live: Live, length: int) -> int:
    """How many text tokens the length that is asked for was made for."""
    extra = length - _end(live)
    for tokens in range(1, extra):
        if tokens + pocket.max_gen_len(live.tts, tokens) == extra:
            return tokens
    raise SpecError(
        f"{live.edit.recipe}: an expansion to {length} slots is not what this text needs, so "
        "nobody can say what would be too little"
    )
