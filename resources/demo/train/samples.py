"""Audio as it is kept, and as it is worked with."""

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.int16]
LARGEST = 32_767


def as_samples(audio: npt.NDArray[np.floating]) -> Samples:
    """Audio from -1 to 1, louder parts clipped."""
    return np.asarray(np.clip(audio, -1, 1) * LARGEST, np.int16)


def as_audio(samples: Samples) -> npt.NDArray[np.float32]:
    return np.asarray(samples.astype(np.float32) / LARGEST, np.float32)
