"""Mimi's streaming state is lost, left over from elsewhere, or miscounted between frames."""

from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults.live import Live, module_of
from kvstudio.engine.faults.registry import patch
from kvstudio.engine.faults.speaking import on_the_side
from kvstudio.recording.errors import SpecError

CLIP = 4  # frames of the clip before


@patch("codec-reset")
def codec_reset(live: Live) -> None:
    def reset() -> None:
        state: Any = live.mimi_state
        if state is None:
            raise SpecError(
                f"{live.edit.recipe}: before frame {live.clock.frame} nothing has been decoded, so "
                "there is no state to reset; choose a later frame"
            )
        fresh = _fresh(live, _capacity(live, state))
        for name, entry in state.items():
            if not pocket.is_encoder(name) and _is_meant(live, entry):
                entry.update(fresh[name])
        live.note(_names(live) if live.arguments["part"] == "attention" else ())

    reset()
    live.spoilers.append(reset)


def _is_meant(live: Live, entry: Any) -> bool:
    part = live.arguments["part"]
    return part == "all" or ("cache" in entry) == (part == "attention")


@patch("codec-stale")
def codec_stale(live: Live) -> None:
    home = module_of(live.tts)

    def init_states(original: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        state = original(model, *args, **kwargs)
        if model is live.tts.mimi:
            clip = original(model, *args, **kwargs)
            on_the_side(lambda: _decode_noise(live, clip))
            for name, entry in state.items():
                for key in ("previous", "partial"):
                    if key in entry:
                        entry[key] = clip[name][key]
            live.note(after=(2 - live.clock.frame,))  # the first decode step
        return state

    live.patch(home, "init_states", init_states)


@patch("codec-step")
def codec_step(live: Live) -> None:
    def increment(original: Any, module: Any, model_state: Any, increment: int = 1) -> Any:
        if module is live.tts.mimi:
            increment = live.number("by")
            live.note(after=(0, 1))
        return original(module, model_state, increment)

    live.patch(module_of(live.tts), "increment_steps", increment)


def _decode_noise(live: Live, state: Any) -> None:
    """Decodes a few latents with `state`, as a clip before this one would have."""
    mimi, generator = live.tts.mimi, live.seed()
    for _ in range(CLIP):
        latent = torch.randn(1, 1, live.tts.flow_lm.ldim, generator=generator).to(live.tts.device)
        if "quantizer" not in type(mimi).decode_from_latent.__code__.co_names:
            latent = mimi.quantizer(latent.transpose(-1, -2))  # releases 2.x want it done before
        type(mimi).decode_from_latent(mimi, latent, state)
        for entry in state.values():  # not by the modules, which the observer listens to
            if "offset" in entry:
                entry["offset"] += pocket.mimi_steps_per_latent(live.tts)


def _fresh(live: Live, capacity: int) -> Any:
    return module_of(live.tts).init_states(live.tts.mimi, batch_size=1, sequence_length=capacity)


def _capacity(live: Live, state: Any) -> int:
    return int(state[live.codec_attentions()[0][0]]["cache"].shape[2])


def _names(live: Live) -> tuple[str, ...]:
    return tuple(name for name, _ in live.codec_attentions())
