"""Attention is given slots that nobody wrote."""

from typing import Any

import torch

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch


@patch("off-by-one-read")
def off_by_one_read(live: Live) -> None:
    def read(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        original(cache, offset, k, v)
        return read_past_end(live, cache, int(offset) + k.shape[1], live.number("count"))

    live.around_append(read)


@patch("read-everything")
def read_everything(live: Live) -> None:
    def read(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        original(cache, offset, k, v)
        return read_past_end(live, cache, int(offset) + k.shape[1], cache.shape[2])

    live.around_append(read)


@patch("zeros-attended")
def zeros_attended(live: Live) -> None:
    attentions = live.attentions()
    hit = [(layer, attentions[layer][1]) for layer in live.layers()]
    live.around_mask(hit, lambda build, layer, q, k, context: torch.ones_like(build(q, k, context)))
    zeros_masked(live)


@patch("zeros-masked")
def zeros_masked(live: Live) -> None:
    for _, entry in live.entries():
        unwritten = entry["cache"][:, :, int(entry["offset"]) :]
        unwritten.zero_()
    off_by_one_read(live)


@patch("read-before-write")
def read_before_write(live: Live) -> None:
    def read(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        begin, end = int(offset), int(offset) + k.shape[1]
        before = cache[:, :, :end].clone()
        original(cache, offset, k, v)
        live.note(live.layers(), (begin, end))
        return before[0], before[1]

    live.around_append(read)


@patch("laundered-read")
def laundered_read(live: Live) -> None:
    def read(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        original(cache, offset, k, v)
        end = int(offset) + k.shape[1]
        keys, values = read_past_end(live, cache, end, live.number("count"))
        return torch.nan_to_num(keys), torch.nan_to_num(values)

    live.around_append(read)


def read_past_end(live: Live, cache: Any, end: int, count: int) -> tuple[Any, Any]:
    """K and V of every slot up to `count` past `end`, as far as there are."""
    last = min(end + count, cache.shape[2])
    if last > end:
        live.note(live.layers(), (end, last))
    return cache[0, :, :last], cache[1, :, :last]
