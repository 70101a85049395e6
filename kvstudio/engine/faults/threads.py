"""Somebody else uses the state of this run."""

from collections.abc import Callable
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults.live import Live, module_of
from kvstudio.engine.faults.registry import patch
from kvstudio.engine.faults.speaking import on_the_side, random_tokens, step
from kvstudio.recording.errors import SpecError


@patch("second-thread")
def second_thread(live: Live) -> None:
    generator = live.seed()

    def intrude() -> None:
        slot, steps = live.offset(), live.number("steps")

        def run() -> None:
            for _ in range(steps):
                shape = (1, 1, live.tts.flow_lm.ldim)
                latent = torch.randn(shape, generator=generator).to(live.tts.device)
                step(live.tts, live.state, backbone_input_latents=latent)

        on_the_side(run, "another generation")
        live.note((), (slot, slot + steps))

    _now_and_on(live, intrude)


@patch("second-codec-thread")
def second_codec_thread(live: Live) -> None:
    mimi, generator = live.tts.mimi, live.seed()

    def intrude() -> None:
        state: Any = live.mimi_state
        if state is None:
            raise SpecError(
                f"{live.edit.recipe}: before frame {live.clock.frame} nothing has been decoded; "
                "choose a later frame"
            )

        def run() -> None:
            latent = torch.randn(live.doors.latent_shape, generator=generator)
            type(mimi).decode_from_latent(mimi, latent.to(live.tts.device), state)
            steps = pocket.mimi_steps_per_latent(live.tts)
            module_of(live.tts).increment_steps(mimi, state, increment=steps)

        on_the_side(run, "another decoder")
        live.note()

    _now_and_on(live, intrude)


@patch("second-owner")
def second_owner(live: Live) -> None:
    slot, tokens = live.offset(), live.number("tokens")

    def run() -> None:
        step(live.tts, live.state, text_tokens=random_tokens(live.tts, tokens))

    on_the_side(run, "another owner")
    live.note((), (slot, slot + tokens))


def _now_and_on(live: Live, intrude: Callable[[], None]) -> None:
    intrude()
    live.spoilers.append(intrude)
