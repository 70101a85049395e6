"""The latent space, fixed before anything is trained: principal components of log-mel spectra.

A latent describes the 80 ms of its own frame and nothing else, so encoder, decoder and language
model are three regressions that do not wait for each other. All components have variance 1.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from train.arrays import write_arrays
from train.plan import FRAME, RATE

Array = npt.NDArray[np.float32]

BANDS = 48
SPECTRA = 8  # per frame, 10 ms apart
HOP = FRAME // SPECTRA
WINDOW = 480
FFT = 512
LOWEST, HIGHEST = 40.0, 11_000.0  # Hz
FLOOR = 2e-3  # amplitude below which all is silence


@dataclass(frozen=True)
class LatentSpace:
    """Latents to log-mel spectra and back.

    Attributes:
        mean: [SPECTRA * BANDS].
        basis: [SPECTRA * BANDS, latents], orthonormal.
        scale: standard deviation of each component, falling, [latents].
    """

    mean: Array
    basis: Array
    scale: Array

    @classmethod
    def fit(cls, recordings: Iterable[Array], latents: int) -> "LatentSpace":
        """The space of the `latents` strongest components of what is heard in `recordings`."""
        spectra = np.concatenate([log_mel(audio) for audio in recordings]).astype(np.float64)
        variance, basis = np.linalg.eigh(np.cov(spectra.T))
        strongest = slice(None, -latents - 1, -1)
        return cls(
            spectra.mean(0).astype(np.float32),
            basis[:, strongest].astype(np.float32),
            np.sqrt(variance[strongest]).astype(np.float32),
        )

    def latents_of(self, audio: Array) -> Array:
        """[samples] to [frames, latents]; a frame that is not full is left out."""
        latents = ((log_mel(audio) - self.mean) @ self.basis) / self.scale
        return np.asarray(latents, np.float32)

    @property
    def to_log_mel(self) -> Array:
        """The matrix that turns differences of latents into differences of log-mel spectra."""
        return np.ascontiguousarray((self.basis * self.scale).T, np.float32)

    @property
    def weight(self) -> Array:
        """How much an error in each component matters; 1 on average."""
        root = np.sqrt(self.scale)
        return np.asarray(root / root.mean(), np.float32)

    def save(self, path: Path) -> None:
        write_arrays(path, {"mean": self.mean, "basis": self.basis, "scale": self.scale})

    @classmethod
    def load(cls, path: Path) -> "LatentSpace":
        with np.load(path) as kept:
            return cls(kept["mean"], kept["basis"], kept["scale"])


def log_mel(audio: Array) -> Array:
    """Natural log of the mel amplitudes around 0, 10 ... 70 ms, [frames, SPECTRA * BANDS].

    The last window of a frame ends with the frame, so the encoder can know it in time.
    """
    frames = len(audio) // FRAME
    padded = np.pad(audio[: frames * FRAME], WINDOW // 2).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][: frames * SPECTRA]
    amplitude = np.abs(np.fft.rfft(windows * np.hanning(WINDOW + 1)[:-1], FFT)) * (4 / WINDOW)
    spectra = np.log(np.maximum(amplitude @ mel_bands().T, FLOOR))
    return np.asarray(spectra.reshape(frames, SPECTRA * BANDS), np.float32)


@functools.cache
def mel_bands() -> Array:
    """Triangles of area 1 on the mel scale, [BANDS, FFT / 2 + 1]."""
    frequencies = np.fft.rfftfreq(FFT, 1 / RATE)
    edges = _hertz(np.linspace(_mel(LOWEST), _mel(HIGHEST), BANDS + 2))[:, None]
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    bands = np.maximum(0, np.minimum(rising, falling))
    for band in np.flatnonzero(bands.sum(1) < 1e-3):  # narrower than a bin
        bands[band, np.argmin(np.abs(frequencies - edges[band + 1]))] = 1
    return np.asarray(bands / bands.sum(1, keepdims=True), np.float32)


def _mel(hertz: float) -> float:
    return float(2_595 * np.log10(1 + hertz / 700))


def _hertz(mel: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(700 * (10 ** (mel / 2_595) - 1))
