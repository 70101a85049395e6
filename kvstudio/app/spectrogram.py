"""How loud each frequency is over time: short-time Fourier columns of the samples heard.

Column `c` looks at the window of samples centred on sample `c * hop`; beyond both ends there is
silence. Samples that arrive later change only columns whose window they fall into, so a growing
clip computes `spectrogram(samples, rate, first_column=settled_columns(samples_before, rate))` and
puts the result after the columns that were settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.codes import encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOP_S = 0.005
WINDOW_S = 0.02
FLOOR_DB = -120.0
"""The quietest level told apart from silence; 0 dB is a sine at full scale."""

QUIETEST_SHOWN_DB = -90.0
LOUDEST_SHOWN_DB = 0.0

BLOCK_COLUMNS = 512
"""Columns transformed at a time, to bound the memory a long clip takes."""


@dataclass(frozen=True)
class Spectrogram:
    """Columns of a spectrogram, from `first_column` on.

    Attributes:
        db: float32 `[F, C]`, `FLOOR_DB` to about 0; NaN where the column is `not_finite`.
        times: `[C]`, seconds, the middle of each column's window.
        freqs: `[F]`, hertz, from 0 to half the sample rate.
        not_finite: bool `[C]`, columns whose window holds a NaN or an Inf.
        first_column: the column of the whole clip that is column 0 here.
    """

    db: NDArray[np.float32]
    times: NDArray[np.floating]
    freqs: NDArray[np.floating]
    not_finite: NDArray[np.bool_]
    first_column: int = 0


def hop_samples(sample_rate: int) -> int:
    """Samples from the middle of one column to the middle of the next."""
    return max(1, round(sample_rate * HOP_S))


def window_samples(sample_rate: int) -> int:
    """Samples one column looks at: a power of two of at least `WINDOW_S`."""
    return 1 << max(3, int(np.ceil(np.log2(sample_rate * WINDOW_S))))


def column_count(sample_count: int, sample_rate: int) -> int:
    """Columns of a whole clip: one centred on every `hop`-th sample."""
    return -(-sample_count // hop_samples(sample_rate))


def settled_columns(sample_count: int, sample_rate: int) -> int:
    """How many columns from the start stay as they are when samples are appended."""
    fitting = sample_count - window_samples(sample_rate) // 2
    return 0 if fitting < 0 else fitting // hop_samples(sample_rate) + 1


def spectrogram(
    samples: NDArray[np.float32], sample_rate: int, *, first_column: int = 0
) -> Spectrogram:
    """Transform the samples of a clip, from `first_column` to its end.

    Args:
        samples: the whole clip, mono, full scale at 1.
        sample_rate: hertz.
        first_column: where to begin; earlier columns are not computed.
    """
    hop, window = hop_samples(sample_rate), window_samples(sample_rate)
    columns = np.arange(first_column, column_count(len(samples), sample_rate))
    db = np.full((len(columns), window // 2 + 1), FLOOR_DB, np.float32)  # [C, F]
    not_finite = np.zeros(len(columns), np.bool_)
    for start in range(0, len(columns), BLOCK_COLUMNS):
        block = slice(start, start + BLOCK_COLUMNS)
        windows = _windows(samples, columns[block], hop, window)
        db[block] = _levels(windows)
        not_finite[block] = ~np.isfinite(windows).all(axis=1)
    db[not_finite] = np.nan
    return Spectrogram(
        db=db.T,
        times=columns * (hop / sample_rate),
        freqs=np.fft.rfftfreq(window, 1 / sample_rate),
        not_finite=not_finite,
        first_column=first_column,
    )


def level_codes(
    db: NDArray[np.float32], quietest: float = QUIETEST_SHOWN_DB, loudest: float = LOUDEST_SHOWN_DB
) -> NDArray[np.uint8]:
    """Turn levels `[F, C]` into the codes of `kvstudio.app.codes`; a NaN column is `Code.NAN`."""
    return encode(db, np.ones(len(db), np.bool_), quietest, loudest)


def _windows(
    samples: NDArray[np.float32], columns: NDArray[np.int64], hop: int, window: int
) -> NDArray[np.float32]:
    """The window of samples around the middle of each column, `[C, window]`."""
    begin = int(columns[0]) * hop - window // 2
    end = int(columns[-1]) * hop + window // 2
    inside = samples[max(0, begin) : end]
    before = max(0, -begin)
    padded = np.pad(inside, (before, end - begin - before - len(inside)))
    return np.lib.stride_tricks.sliding_window_view(padded, window)[::hop]


def _levels(windows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Decibels `[C, F]` of windows `[C, window]`; not a number in, any number out."""
    taper = np.hanning(windows.shape[1] + 1)[:-1]
    taper *= 2 / taper.sum()  # a sine of amplitude 1 then has power 1
    with np.errstate(invalid="ignore"):
        spectrum = np.fft.rfft(windows * taper, axis=1)  # float64: a broken model may be loud
        power = spectrum.real**2 + spectrum.imag**2
        levels = 10 * np.log10(np.fmax(power, 10 ** (FLOOR_DB / 10)))
    return levels.astype(np.float32)
