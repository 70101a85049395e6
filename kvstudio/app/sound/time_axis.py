"""Which seconds are in view, and where each of them lies on the screen; no painting."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST_S = 0.001
FIRST_S = 1.0
"""The axis of a run that has just begun; it grows by `GROWTH` when it is full."""

GROWTH = 1.3


@dataclass(frozen=True)
class TimeAxis:
    """Seconds `[first, last)` over the pixels `[left, left + width)`.

    Attributes:
        total: where the axis ends, in seconds.
    """

    first: float
    last: float
    total: float
    left: float
    width: float

    @property
    def span(self) -> float:
        return self.last - self.first

    @property
    def pixels_per_second(self) -> float:
        return self.width / self.span

    @property
    def is_whole(self) -> bool:
        return self.span >= self.total * (1 - 1e-9)

    def x_of(self, second: float) -> float:
        return self.left + (second - self.first) * self.pixels_per_second

    def second_at(self, x: float) -> float:
        return self.first + (x - self.left) / self.pixels_per_second

    def edges(self, pixels: int) -> NDArray[np.float64]:
        """Seconds at the edges of `pixels` columns over the whole width: `[pixels + 1]`."""
        return np.linspace(self.first, self.last, pixels + 1)

    def zoomed(self, factor: float, around: float) -> TimeAxis:
        """Magnified; the second `around` stays where it is."""
        span = min(max(self.span / factor, SHORTEST_S), self.total)
        first = around - (around - self.first) * span / self.span
        return self._showing(first, span)

    def panned(self, seconds: float) -> TimeAxis:
        return self._showing(self.first + seconds, self.span)

    def whole(self) -> TimeAxis:
        return self._showing(0.0, self.total)

    def revealing(self, first: float, last: float) -> TimeAxis:
        """Moved, if need be, so that a range can be seen, with some of what comes after."""
        if self.first <= first and last <= self.last:
            return self
        lead = min(0.2 * self.span, max(0.0, self.span - (last - first)))
        return self._showing(first - lead, self.span)

    def placed(self, left: float, width: float, total: float) -> TimeAxis:
        """The same view on a screen, or of a recording, of another size."""
        placed = TimeAxis(self.first, self.last, total, left, max(1.0, width))
        return placed.whole() if self.is_whole else placed._showing(self.first, self.span)

    def _showing(self, first: float, span: float) -> TimeAxis:
        span = min(span, self.total)
        first = min(max(0.0, first), self.total - span)
        return TimeAxis(first, first + span, self.total, self.left, self.width)


def axis_end(seconds: float, *, growing: bool) -> float:
    """Where the axis of a recording ends: at its end, or with room for what is to come."""
    if not growing:
        return max(seconds, SHORTEST_S)
    steps = max(0, ceil(round(log10(max(seconds, FIRST_S) / FIRST_S) / log10(GROWTH), 9)))
    return FIRST_S * GROWTH**steps


def round_step(least: float) -> float:
    """The smallest of ... 0.1, 0.2, 0.5, 1, 2, 5 ... that is at least `least`."""
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def second_words(second: float, step: float) -> str:
    """A place on the axis, as exact as the distance of the ticks: `1.5 s`, `0.125 s`."""
    digits = max(0, -floor(log10(step) + 1e-9))
    return f"{second:.{digits}f} s"
