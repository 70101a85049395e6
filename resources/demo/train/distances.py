"""How far what is heard is from what should be heard."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from train.latents import BANDS, log_mel
from train.plan import FRAME, RATE

Array = npt.NDArray[np.float32]

LOUD = 0.02  # rms of a stretch with a pitch worth measuring
STRETCH = 1_920  # samples
LAGS = slice(80, 343)  # 300 down to 70 Hz
REGULAR = 0.3  # autocorrelation above which there is a pitch


def spectra(audio: Array) -> Array:
    """Log-mel spectra every 20 ms, [time, BANDS]."""
    whole = np.pad(audio, (0, -len(audio) % FRAME))
    return log_mel(whole).reshape(-1, BANDS)[::2]


def distances(heard: Array, candidates: Sequence[Array]) -> Array:
    """Mean difference of log amplitudes to each candidate along the best alignment, [candidates].

    Args:
        heard: spectra, [time, BANDS].
        candidates: spectra, each [its time, BANDS].
    """
    lengths = np.array([len(candidate) for candidate in candidates])
    padded = np.stack([np.pad(c, ((0, max(lengths) - len(c)), (0, 0))) for c in candidates])
    costs = torch.cdist(torch.from_numpy(heard)[None], torch.from_numpy(padded), p=1) / BANDS
    totals, steps = _best_paths(costs.numpy())
    ends = len(heard) - 1 + lengths - 1
    chosen = np.arange(len(candidates))
    return np.asarray(totals[ends, chosen] / steps[ends, chosen])


def _best_paths(costs: Array) -> tuple[Array, Array]:
    """Dynamic time warping of all candidates at once, one anti-diagonal after the other.

    Returns:
        Cost of the best path to the last row, and its steps, [diagonals, candidates].
    """
    candidates, rows, columns = costs.shape
    diagonals = rows + columns - 1
    skewed = np.full((diagonals, candidates, rows), np.inf, np.float32)
    for row in range(rows):
        skewed[row : row + columns, :, row] = costs[:, row].T
    # Column r + 1 is row r, so that row -1 exists; last and the one before last.
    cost = np.full((2, candidates, rows + 1), np.inf, np.float32)
    cost[1, :, 0] = 0  # where every path begins
    steps = np.zeros_like(cost)
    totals, counts = np.empty((2, diagonals, candidates), np.float32)
    for diagonal, here in enumerate(skewed):
        before = np.stack([cost[1, :, :-1], cost[0, :, :-1], cost[0, :, 1:]])
        counted = np.stack([steps[1, :, :-1], steps[0, :, :-1], steps[0, :, 1:]])
        best = before.argmin(0)[None]
        cost[1], steps[1] = cost[0], steps[0]
        cost[0, :, 1:] = np.take_along_axis(before, best, 0)[0] + here
        steps[0, :, 1:] = np.take_along_axis(counted, best, 0)[0] + 1
        totals[diagonal], counts[diagonal] = cost[0, :, -1], steps[0, :, -1]
    return totals, counts


def pitch(audio: Array) -> float:
    """Median fundamental frequency of the loud stretches, in Hz; NaN if there is none."""
    found = []
    for start in range(0, len(audio) - STRETCH, STRETCH // 2):
        stretch = audio[start : start + STRETCH]
        if stretch.std() < LOUD:
            continue
        power = np.abs(np.fft.rfft(stretch - stretch.mean(), 8_192)) ** 2
        likeness = np.fft.irfft(power)
        lag = LAGS.start + int(np.argmax(likeness[LAGS]))
        if likeness[lag] > REGULAR * likeness[0]:
            found.append(RATE / lag)
    return float(np.median(found)) if found else float("nan")
