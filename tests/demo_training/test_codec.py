"""The decoder as it is trained."""

import pytest
import torch
from pocket_tts.modules.stateful_module import increment_steps, init_states

from tests.demo_training.parts import Part, noise, ready_to_stream


def test_decoder_without_state_is_the_streaming_one(part: Part) -> None:
    mimi = ready_to_stream(part("models").new_codec(0))
    latents = torch.from_numpy(noise(1, 5, part("models").latent_size()))
    state = init_states(mimi, 1, 100)
    frames = []
    with torch.no_grad():
        for frame in latents[0, :, None, None]:
            frames.append(mimi.decode_from_latent(frame, state)[0])
            increment_steps(mimi, state, 16)
        whole = part("codec").decode(mimi, latents)
    assert torch.cat(frames, -1).numpy() == pytest.approx(whole.numpy(), abs=1e-6)
