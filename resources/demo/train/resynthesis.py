"""Speech with a voice whose excitation repeats exactly in every frame.

A pulse stands at every multiple of the voice's period, counted from sample 0, and one fixed 80 ms
of noise is repeated in each frame. So the waveform follows from the spectral envelope alone: the
latents need not say where in a period a frame begins, and a plain waveform loss can be learned.
"""

import functools

import numpy as np

from train.plan import FRAME, HOP, HOPS, Voice
from train.speech import FFT, Array, Speech

NOISE_SEED = 7
NO_RUMBLE = np.array([0.0, 0.1, 0.5])  # gains of the lowest bins


def render(speech: Speech, voice: Voice) -> Array:
    """The audio, -1 to 1, [hops * HOP]."""
    noisiness = np.clip(_stretched(speech.noisiness, voice.stretch), 0, 1)
    amplitude = np.exp(0.5 * _stretched(np.log(np.maximum(speech.envelope, 1e-14)), voice.stretch))
    amplitude[:, : len(NO_RUMBLE)] *= NO_RUMBLE
    tonal = _minimum_phase(amplitude * np.sqrt(np.maximum(1 - noisiness**2, 1e-8)))
    noisy = _minimum_phase(amplitude * noisiness)
    samples = len(amplitude) * HOP
    audio = np.zeros(HOP + samples + 4 * FFT)  # begins one hop early, as the noise does
    _add_pulses(audio, tonal, voice.period, samples)
    _add_noise(audio, noisy)
    return audio[HOP : HOP + samples]


def _add_pulses(audio: Array, spectra: Array, period: int, samples: int) -> None:
    starts = np.arange(0, samples, period)
    nearest = np.minimum(np.round(starts / HOP).astype(int), len(spectra) - 1)
    responses = np.fft.irfft(spectra[nearest], FFT, axis=1) * np.sqrt(period)
    for start, response in zip(starts + HOP, responses, strict=True):
        audio[start : start + FFT] += response


def _add_noise(audio: Array, spectra: Array) -> None:
    responses = np.fft.rfft(np.fft.irfft(spectra, FFT, axis=1), 2 * FFT, axis=1)
    excited = responses * _noise_spectra()[np.arange(len(spectra)) % HOPS]
    for hop, piece in enumerate(np.fft.irfft(excited, 2 * FFT, axis=1)):
        audio[hop * HOP : hop * HOP + 2 * FFT] += piece


@functools.cache
def _noise_spectra() -> Array:
    """The frame's noise in windowed pieces around each hop, [HOPS, FFT + 1]."""
    white = np.random.RandomState(NOISE_SEED).randn(FRAME)
    spectrum = np.fft.rfft(white)
    flat = np.fft.irfft(spectrum / np.abs(spectrum))
    window = np.hanning(2 * HOP + 1)[:-1]
    pieces = [np.roll(flat, HOP - hop * HOP)[: 2 * HOP] * window for hop in range(HOPS)]
    return np.asarray(np.fft.rfft(np.stack(pieces) / flat.std(), 2 * FFT))


def _minimum_phase(amplitude: Array) -> Array:
    """The spectra with these amplitudes whose responses start at once, [hops, BINS]."""
    cepstrum = np.fft.irfft(np.log(np.maximum(amplitude, 1e-7)), FFT, axis=1)
    fold = np.zeros(FFT)
    fold[[0, FFT // 2]] = 1
    fold[1 : FFT // 2] = 2
    return np.asarray(np.exp(np.fft.rfft(cepstrum * fold, FFT, axis=1)))


def _stretched(spectra: Array, factor: float) -> Array:
    """The frequency axis stretched, [hops, BINS]."""
    bins = np.arange(spectra.shape[1])
    source = np.clip(bins / factor, 0, len(bins) - 1)
    below = source.astype(int)
    above = np.minimum(below + 1, len(bins) - 1)
    share = source - below
    return np.asarray(spectra[:, below] * (1 - share) + spectra[:, above] * share)
