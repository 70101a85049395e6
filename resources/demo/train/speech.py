"""Speech by espeak-ng, taken apart by WORLD into a spectral envelope and how noisy it is."""

import subprocess
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyworld
from scipy.signal import resample_poly

from train.plan import HOP, HOPS, RATE

Array = npt.NDArray[np.float64]

FFT = 1_024
BINS = FFT // 2 + 1
LEAD = 12  # hops of silence before the first sound: 60 ms
TAIL = 20  # hops of silence after the last sound: 100 ms, and more to fill the frame
LONGEST_PAUSE = 36  # hops
SOUND = 0.004  # rms above which a hop is not silence
ESPEAK = ("espeak-ng", "-v", "en-us", "-s", "150", "-p", "52", "-m", "--stdout")
ESPEAK_RATE = 22_050


class SilentText(ValueError):
    """espeak-ng says nothing for this text."""


@dataclass(frozen=True)
class Speech:
    """What is said in each hop, without a pitch; fills whole frames.

    Attributes:
        envelope: power spectrum, [hops, BINS].
        noisiness: share of noise in the amplitude, 0 to 1, [hops, BINS].
    """

    envelope: Array
    noisiness: Array


def speech_of(text: str) -> Speech:
    """`text`, which should have capitals, as espeak-ng says it on one note."""
    audio = speak(text)
    pitch, times = pyworld.dio(
        audio, RATE, f0_floor=70.0, f0_ceil=200.0, frame_period=1_000 * HOP / RATE
    )
    pitch = pyworld.stonemask(audio, pitch, times, RATE)
    envelope = pyworld.cheaptrick(audio, pitch, times, RATE, fft_size=FFT)
    noisiness = pyworld.d4c(audio, pitch, times, RATE, fft_size=FFT)
    kept = _hops_to_keep(_levels(audio, len(pitch)) > SOUND)
    return _framed(envelope[kept], noisiness[kept])


def speak(text: str) -> Array:
    """espeak-ng's own audio, -1 to 1, [samples]."""
    marked = f"<speak><prosody range='0'>{text}</prosody></speak>"
    wave = subprocess.run([*ESPEAK, marked], capture_output=True, check=True).stdout
    samples = np.frombuffer(wave[44:], dtype=np.int16).astype(np.float64) / 32_768
    return np.asarray(resample_poly(samples, RATE // 150, ESPEAK_RATE // 150))


def _levels(audio: Array, hops: int) -> Array:
    """Rms around each hop, [hops]."""
    padded = np.pad(audio, (HOP, 2 * HOP))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * HOP)[::HOP][:hops]
    return np.asarray(np.sqrt(np.mean(np.square(windows), axis=1)))


def _hops_to_keep(sounding: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """From the first sound to the last, with long pauses cut short."""
    sounds = np.flatnonzero(sounding)
    if not len(sounds):
        raise SilentText
    kept, pause = [], 0
    for hop in range(sounds[0], sounds[-1] + 1):
        pause = 0 if sounding[hop] else pause + 1
        if pause <= LONGEST_PAUSE:
            kept.append(hop)
    return np.array(kept)


def _framed(envelope: Array, noisiness: Array) -> Speech:
    """Silence before and after, up to whole frames."""
    end = LEAD + len(envelope)
    hops = -(-(end + TAIL) // HOPS) * HOPS
    framed = Speech(np.full((hops, BINS), 1e-12), np.ones((hops, BINS)))
    framed.envelope[LEAD:end] = envelope
    framed.noisiness[LEAD:end] = noisiness
    return framed
