"""What the measurements measure."""

import numpy as np
import pytest

from tests.demo_training.parts import Part, noise


def test_nearest_is_the_same_speech_at_another_pace(part: Part) -> None:
    one, other = noise(2, 40, 48)
    slower = np.repeat(one, 2, axis=0)
    to_slower, to_other, to_itself = part("distances").distances(one, [slower, other[:30], one])
    assert to_slower == to_itself == 0
    assert to_other > 0.5


@pytest.mark.parametrize("hertz", [100, 150, 200])
def test_pitch_of_pulses(part: Part, hertz: int) -> None:
    pulses = np.zeros(24_000, np.float32)
    pulses[:: 24_000 // hertz] = 1
    assert part("distances").pitch(pulses) == hertz


def test_silence_has_no_pitch(part: Part) -> None:
    assert np.isnan(part("distances").pitch(np.zeros(24_000, np.float32)))
