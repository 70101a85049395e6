"""Numbers that do not fit their dtype."""

from typing import Any

import torch

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch, spoiler

TOO_LARGE = 1e9  # times what a layer gives: more than half precision can hold


@spoiler("wrong-dtype")
def wrong_dtype(live: Live) -> None:
    for _, entry in live.entries():
        entry["cache"] = entry["cache"].to(getattr(torch, str(live.arguments["dtype"])))
    live.note(live.layers())


@patch("coarse-kv")
def coarse_kv(live: Live) -> None:
    def write(original: Any, layer: int, cache: Any, offset: Any, k: Any, v: Any) -> Any:
        live.note(live.layers(), (int(offset), int(offset) + k.shape[1]))
        return original(cache, offset, _squeezed(live, k), _squeezed(live, v))

    live.around_append(write)


def _squeezed(live: Live, values: torch.Tensor) -> torch.Tensor:
    dtype = str(live.arguments["dtype"])
    if dtype != "int8":
        return values.to(getattr(torch, dtype)).to(values.dtype)
    scale = live.arguments["scale"]
    assert isinstance(scale, (int, float))
    steps = (values / scale).round().clamp(-128, 127)
    return steps.to(torch.int8).to(values.dtype) * scale


@patch("overflow")
def overflow(live: Live) -> None:
    layers = live.tts.flow_lm.transformer.layers
    for layer in live.layers():
        live.patch(layers[layer], "_ff_block", _overflowing)
    first = min(live.layers())
    live.note(tuple(range(first, len(layers))))


@patch("codec-overflow")
def codec_overflow(live: Live) -> None:
    layers = live.tts.mimi.decoder_transformer.transformer.layers
    for layer in live.layers():
        live.patch(layers[layer], "_ff_block", _overflowing)
    live.note(tuple(name for name, _ in live.codec_attentions())[min(live.layers()) :])


def _overflowing(original: Any, *args: Any, **kwargs: Any) -> Any:
    result = original(*args, **kwargs)
    return (result * TOO_LARGE).half().to(result.dtype)
