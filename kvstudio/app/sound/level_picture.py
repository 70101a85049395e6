"""A spectrogram that grows with its samples, shrunk to any size without losing a peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.growing import Growing
from kvstudio.app.spectrogram import (
    column_count,
    hop_samples,
    level_codes,
    settled_columns,
    spectrogram,
    window_samples,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS_AT_ONCE = 512
"""Columns made in one go, about 3 ms."""

BLOCK = 4
LEVELS = 4
BLOCKS_PER_PIXEL = 2


class LevelPicture:
    """Codes of levels, a row for each column of the spectrogram: `[C, F]`, F from 0 Hz up."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._settled = 0
        bins = window_samples(sample_rate) // 2 + 1
        self._levels: list[Growing[np.uint8]] = [Growing(np.uint8, bins) for _ in range(LEVELS)]

    def __len__(self) -> int:
        """Columns made so far."""
        return len(self._levels[0])

    @property
    def codes(self) -> NDArray[np.uint8]:
        return self._levels[0].now

    def go_on(self, samples: NDArray[np.float32]) -> bool:
        """Make some more columns, the unsettled ones anew; whether there are more to make."""
        rate, first = self.sample_rate, self._settled
        end = min(column_count(len(samples), rate), first + COLUMNS_AT_ONCE)
        if end > first:
            seen = samples[: end * hop_samples(rate) + window_samples(rate) // 2]
            made = spectrogram(seen, rate, first_column=first)
            self._put(first, level_codes(made.db[:, : end - first]).T)
            self._settled = min(end, settled_columns(len(seen), rate))
        return end < column_count(len(samples), rate)

    def shrunk(self, edges: NDArray[np.float64], height: int) -> NDArray[np.uint8]:
        """The loudest codes behind columns of pixels, `[height, W]`, high frequencies on top.

        Args:
            edges: `[W + 1]` positions in columns, evenly spaced by at least 1.
            height: rows; at most the number of frequencies.
        """
        block, level = self._level_for(edges[1] - edges[0])
        bounds = np.floor(edges / block).astype(np.intp).clip(0, len(level))
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        found = np.zeros((height, len(edges) - 1), np.uint8)
        if filled.size:
            loudest = _loudest(level.now, np.append(bounds[filled], bounds[filled[-1] + 1]))
            rows = np.arange(height + 1) * loudest.shape[1] // height
            found[:, filled] = _loudest(np.ascontiguousarray(loudest.T), rows)
        return found[::-1]

    def window(self, first: int, last: int) -> NDArray[np.uint8]:
        """The codes of columns `[first, last)` as they are, `[F, columns]`, high on top."""
        turned: NDArray[np.uint8] = self.codes[first:last].T[::-1]
        return turned

    def _level_for(self, columns_per_pixel: float) -> tuple[int, Growing[np.uint8]]:
        most = columns_per_pixel / BLOCKS_PER_PIXEL
        number = next(n for n in reversed(range(LEVELS)) if BLOCK**n <= most or n == 0)
        return BLOCK**number, self._levels[number]

    def _put(self, first: int, codes: NDArray[np.uint8]) -> None:
        self._levels[0].put(first, codes)
        for finer, coarser in zip(self._levels, self._levels[1:], strict=False):
            first //= BLOCK
            bounds = np.append(np.arange(first * BLOCK, len(finer), BLOCK), len(finer))
            coarser.put(first, _loudest(finer.now, bounds))


def _loudest(rows: NDArray[np.uint8], bounds: NDArray[np.intp]) -> NDArray[np.uint8]:
    """The maxima of groups of rows: `[N, width]` to `[groups, width]`; group g is `bounds[g:g+2]`.

    Row by row of all groups at once; `np.maximum.reduceat` takes twenty times as long.
    """
    starts, last = bounds[:-1], bounds[1:] - 1
    found = rows[starts]
    for step in range(1, int((last - starts).max()) + 1):
        np.maximum(found, rows[np.minimum(starts + step, last)], out=found)
    return found
