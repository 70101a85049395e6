"""Attention sees what it should not, or does not see what it should."""

from typing import Any

import torch

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch


@patch("open-mask")
def open_mask(live: Live) -> None:
    def build(original: Any, name: str, pos_q: Any, pos_k: Any, context: Any) -> Any:
        live.note(_names(live))
        return torch.ones_like(original(pos_q, pos_k, context))

    live.around_mask(_codec(live), build)


@patch("see-ahead")
def see_ahead(live: Live) -> None:
    def build(original: Any, name: str, pos_q: Any, pos_k: Any, context: Any) -> Any:
        live.note(_names(live))
        return original(pos_q + live.number("by"), pos_k, context)

    live.around_mask(_codec(live), build)


@patch("text-sees-ahead")
def text_sees_ahead(live: Live) -> None:
    def build(original: Any, layer: int, pos_q: Any, pos_k: Any, context: Any) -> Any:
        if pos_q.shape[1] > 1:
            live.note(live.layers())
        return original(pos_q + live.number("by"), pos_k, context)

    live.around_mask(_flow_lm(live), build)


@patch("no-window")
def no_window(live: Live) -> None:
    def build(original: Any, name: str, pos_q: Any, pos_k: Any, context: Any) -> Any:
        if pos_k.shape[1] > context:
            live.note(_names(live))
        return original(pos_q, pos_k, None)

    live.around_mask(_codec(live), build)


@patch("short-window")
def short_window(live: Live) -> None:
    codec, window = live.arguments["model"] == "mimi", live.number("window")

    def build(original: Any, label: Any, pos_q: Any, pos_k: Any, context: Any) -> Any:
        if pos_k.shape[1] > window:
            live.note(_names(live) if codec else live.layers())
        return original(pos_q, pos_k, window)

    live.around_mask(_codec(live) if codec else _flow_lm(live), build)


def _flow_lm(live: Live) -> list[tuple[Any, Any]]:
    return [(layer, attention) for layer, (_, attention) in enumerate(live.attentions())]


def _codec(live: Live) -> list[tuple[Any, Any]]:
    return list(live.codec_attentions())


def _names(live: Live) -> tuple[str, ...]:
    return tuple(name for name, _ in live.codec_attentions())
