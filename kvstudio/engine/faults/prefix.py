"""The prefix that conditions the model is not what it was trained with."""

from typing import Any

import torch

from kvstudio.engine.faults.live import Live
from kvstudio.engine.faults.registry import patch, spoiler
from kvstudio.engine.faults.speaking import listened_state, other_weights
from kvstudio.recording.errors import SpecError

BEFORE_VOICE = "insert_bos_before_voice"
SHOWS = (0, 1)


@patch("no-marker")
def no_marker(live: Live) -> None:
    _marker(live)
    live.setting(live.tts.flow_lm, BEFORE_VOICE, False)
    live.note(after=SHOWS)


@patch("zero-marker")
def zero_marker(live: Live) -> None:
    zeros = torch.nn.Parameter(torch.zeros_like(_marker(live)), requires_grad=False)
    live.setting(live.tts.flow_lm, "bos_before_voice", zeros)
    live.note(after=SHOWS)


@patch("marker-misplaced")
def marker_misplaced(live: Live) -> None:
    marker = _marker(live)

    def encode(original: Any, *args: Any, **kwargs: Any) -> Any:
        voice = original(*args, **kwargs)
        middle = live.arguments["place"] == "middle"
        at = voice.shape[1] // 2 if middle else voice.shape[1]
        return torch.cat([voice[:, :at], marker, voice[:, at:]], dim=1)

    live.setting(live.tts.flow_lm, BEFORE_VOICE, False)
    live.patch(live.tts, "_encode_audio", encode)
    live.note(after=SHOWS)


@patch("marker-twice")
def marker_twice(live: Live) -> None:
    marker = _marker(live)

    def encode(original: Any, *args: Any, **kwargs: Any) -> Any:
        return torch.cat([marker, original(*args, **kwargs)], dim=1)

    live.patch(live.tts, "_encode_audio", encode)
    live.note(after=SHOWS)


def _marker(live: Live) -> torch.Tensor:
    """`[1, 1, dim]`, learned."""
    if not getattr(live.tts.flow_lm, BEFORE_VOICE, False):
        raise SpecError(f"{live.edit.recipe}: this model has no marker before the voice")
    marker: torch.Tensor = live.tts.flow_lm.bos_before_voice
    return marker


@spoiler("foreign-voice")
def foreign_voice(live: Live) -> None:
    names = [name for name, _ in live.attentions()]
    with other_weights(live.tts, live.seed()):
        foreign = listened_state(live.tts, live.offset(), live.seed())
    for layer, entry in live.entries():
        entry["cache"] = foreign[names[layer]]["cache"].to(entry["cache"])
    live.note(live.layers(), after=SHOWS)


@patch("start-not-marked")
def start_not_marked(live: Live) -> None:
    generator = torch.Generator().manual_seed(1)

    def sample(original: Any, *args: Any, **kwargs: Any) -> Any:
        sequence = kwargs.pop("sequence", None)
        if sequence is None:
            sequence, args = args[0], args[1:]
        if bool(torch.isnan(sequence).any()):
            noise = torch.randn(sequence.shape, generator=generator).to(sequence)
            fed = noise if live.arguments["fed"] == "noise" else torch.zeros_like(sequence)
            sequence = torch.where(torch.isnan(sequence), fed, sequence)
            live.note()
        return original(sequence, *args, **kwargs)

    live.patch(live.tts.flow_lm, "_sample_next_latent", sample)


@patch("marker-not-replaced")
def marker_not_replaced(live: Live) -> None:
    flow_lm = live.tts.flow_lm

    def before(module: Any, inputs: tuple[Any, ...]) -> Any:
        marked = inputs[0] == flow_lm.bos_emb
        if not live.on or not bool(marked.any()):
            return None
        live.note()
        return (torch.where(marked, float("nan"), inputs[0]),)

    live.stack.callback(flow_lm.input_linear.register_forward_pre_hook(before).remove)


@patch("nan-latent")
def nan_latent(live: Live) -> None:
    def step(original: Any, *args: Any, **kwargs: Any) -> Any:
        latent, eos = original(*args, **kwargs)
        live.note()
        return torch.full_like(latent, float("nan")), eos

    live.through("step", step)
