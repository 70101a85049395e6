"""The latent space, which is fixed before anything is trained."""

import numpy as np
import pytest

from tests.demo_training.parts import FRAME, Part, noise

MEL = 8 * 48  # numbers that describe a frame


def test_spectrum_of_a_frame_does_not_know_the_next(part: Part) -> None:
    log_mel = part("latents").log_mel
    audio = noise(4 * FRAME)
    changed = audio.copy()
    changed[2 * FRAME :] = 0
    assert np.array_equal(log_mel(audio)[:2], log_mel(changed)[:2])
    assert not np.array_equal(log_mel(audio)[2], log_mel(changed)[2])


def test_latents_have_variance_one_and_lead_back(part: Part) -> None:
    latents = part("latents")
    audio = noise(500 * FRAME) * np.repeat(np.abs(noise(500)), FRAME)
    space = latents.LatentSpace.fit([audio], MEL)
    found = space.latents_of(audio)
    assert found[:, :8].std(0) == pytest.approx(np.ones(8), abs=0.01)
    again = found @ space.to_log_mel + space.mean
    assert again == pytest.approx(latents.log_mel(audio), abs=1e-2)
