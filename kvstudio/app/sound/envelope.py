"""The lowest and highest sample behind each pixel, exact to the sample and fast for minutes.

Samples are kept as they are and, above them, as the extremes of 8, 64, 512 ... of them. A column
of pixels is put together from blocks of at most a quarter of its width, so that not even a click
of one sample is lost or appears in the wrong place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.growing import Growing

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 8
LEVELS = 6
BLOCKS_PER_COLUMN = 4


class Trouble(IntFlag):
    """What is wrong with at least one of some samples."""

    NAN = 1
    CLIPPED = 2  # at full scale or beyond it, Inf included


@dataclass(frozen=True)
class Columns:
    """One entry for each column of pixels.

    Attributes:
        low, high: float32 `[W]`; NaN where the column has no number, or no sample at all.
        trouble: uint8 `[W]`, `Trouble` flags.
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    trouble: NDArray[np.uint8]


class _Level:
    """Extremes and flags of every block of one size."""

    def __init__(self) -> None:
        self.low: Growing[np.float32] = Growing(np.float32)
        self.high: Growing[np.float32] = Growing(np.float32)
        self.trouble: Growing[np.uint8] = Growing(np.uint8)

    def put(self, first: int, columns: Columns) -> None:
        self.low.put(first, columns.low)
        self.high.put(first, columns.high)
        self.trouble.put(first, columns.trouble)

    def reduced(self, starts: NDArray[np.intp], end: int) -> Columns:
        """Columns that begin at the blocks `starts`, the last one ending before block `end`."""
        if not starts.size:
            nothing = np.empty(0, np.float32)
            return Columns(nothing, nothing, np.empty(0, np.uint8))
        return Columns(
            np.fmin.reduceat(self.low.now[:end], starts),
            np.fmax.reduceat(self.high.now[:end], starts),
            np.bitwise_or.reduceat(self.trouble.now[:end], starts),
        )


class Envelope:
    """All samples so far and their extremes in blocks.

    Attributes:
        nan_count: samples that are not a number.
        clipped_count: samples at full scale or beyond.
    """

    def __init__(self) -> None:
        self._levels = [_Level() for _ in range(LEVELS)]
        # Highest and lowest of a single sample are the sample.
        self._levels[0].high = self._levels[0].low
        self.nan_count = self.clipped_count = 0

    def __len__(self) -> int:
        return len(self._levels[0].low)

    @property
    def samples(self) -> NDArray[np.float32]:
        return self._levels[0].low.now

    def append(self, samples: NDArray[np.float32]) -> None:
        first = len(self)
        trouble = _troubles(samples)
        self.nan_count += int(np.count_nonzero(trouble & Trouble.NAN))
        self.clipped_count += int(np.count_nonzero(trouble & Trouble.CLIPPED))
        self._levels[0].put(first, Columns(samples, samples, trouble))
        for finer, coarser in zip(self._levels, self._levels[1:], strict=False):
            first //= BLOCK  # the block in which the new ones begin is made anew
            end = len(finer.low)
            coarser.put(first, finer.reduced(np.arange(first * BLOCK, end, BLOCK), end))

    def columns(self, edges: NDArray[np.float64]) -> Columns:
        """What lies behind columns of pixels.

        Args:
            edges: `[W + 1]` positions in samples, evenly spaced by at least 1; may reach beyond
                both ends.
        """
        block, level = self._level_for(edges[1] - edges[0])
        bounds = np.floor(edges / block).astype(np.intp).clip(0, len(level.low))
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        found = _no_columns(len(edges) - 1)
        if filled.size:
            some = level.reduced(bounds[filled], int(bounds[filled[-1] + 1]))
            found.low[filled] = some.low
            found.high[filled] = some.high
            found.trouble[filled] = some.trouble
        return found

    def peak(self) -> float:
        """The largest finite magnitude, 0 if there is none."""
        top = self._levels[-1]
        extremes = np.concatenate([top.low.now, top.high.now])
        if not np.isfinite(extremes).all():
            extremes = self.samples
        magnitudes = np.abs(extremes[np.isfinite(extremes)])
        return float(magnitudes.max(initial=0.0))

    def _level_for(self, samples_per_column: float) -> tuple[int, _Level]:
        most = samples_per_column / BLOCKS_PER_COLUMN
        number = next(n for n in reversed(range(LEVELS)) if BLOCK**n <= most or n == 0)
        return BLOCK**number, self._levels[number]


def _no_columns(width: int) -> Columns:
    nothing = np.full(width, np.nan, np.float32)
    return Columns(nothing, nothing.copy(), np.zeros(width, np.uint8))


def _troubles(samples: NDArray[np.float32]) -> NDArray[np.uint8]:
    nan = np.isnan(samples) * np.uint8(Trouble.NAN)
    clipped = (np.abs(samples) >= 1) * np.uint8(Trouble.CLIPPED)
    flags: NDArray[np.uint8] = nan | clipped
    return flags
