"""Where each frame lies on the time line, and everything it is painted from; no painting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import QFont

    from kvstudio.app.frame_line.track import FrameTrack
    from kvstudio.app.theme import Palette
    from kvstudio.recording.rows import Chunk

GUTTER = 46.0
RIGHT_MARGIN = 10.0
HEAD_WIDTH = 78.0
WIDEST_FITTED = 46.0
WIDEST_CELL = 72.0
NUMBER_PADDING = 3.0
WIDE_CELL = 7.0
"""From this width on a cell is drawn by itself, below it as a part of a band."""

FIRST_FRAMES = 16
GROWTH = 1.3

TOP = 3.0
CHUNK_HEIGHT = 16.0
CELL_HEIGHT = 22.0
MARKS_HEIGHT = 11.0
TIMES_HEIGHT = 24.0
GAP = 3.0
LEAST_PLOT = 26.0
ROOM_FOR_TEXT = 104.0
"""Height from which on even a single chunk has its text above."""


@dataclass(frozen=True)
class LineLayout:
    """The rows from top to bottom; those that are not shown have no height."""

    chunks: QRectF
    cells: QRectF
    marks: QRectF
    plot: QRectF
    times: QRectF

    @property
    def all(self) -> QRectF:
        return self.chunks.united(self.cells).united(self.plot).united(self.times)


@dataclass(frozen=True, eq=False)
class LineScene:
    """What is painted now.

    Attributes:
        first: the frame at the left edge, with its fraction.
        cell: width of a frame in pixels.
        texts: chunks by id.
        head: whether there is a place for the head, where the run goes on.
        ratio: device pixels per device-independent pixel.
    """

    layout: LineLayout
    track: FrameTrack
    first: float
    cell: float
    chunks: Mapping[int, Chunk]
    head: bool
    palette: Palette
    font: QFont
    ratio: float

    @property
    def left(self) -> float:
        return self.layout.cells.left()

    @property
    def right(self) -> float:
        return self.layout.cells.right()

    def x_of(self, frame: float) -> float:
        """The left edge of a frame."""
        return self.left + (frame - self.first) * self.cell

    def frame_at(self, x: float) -> int:
        """The frame under x, the nearest one if there is none."""
        frame = int((x - self.left) / self.cell + self.first)
        return max(0, min(frame, len(self.track) - 1))

    def cell_rect(self, frame: int) -> QRectF:
        cells = self.layout.cells
        return QRectF(self.x_of(frame), cells.top(), self.cell, cells.height())

    @cached_property
    def shown(self) -> range:
        """The frames in view, at least in part."""
        last = ceil(self.first + (self.right - self.left) / self.cell)
        return range(int(self.first), max(int(self.first), min(last, len(self.track))))

    @cached_property
    def number_width(self) -> float:
        """What the widest number of a frame takes in a cell."""
        digits = str(max(1, len(self.track) - 1))
        return QFontMetricsF(self.font).horizontalAdvance(digits) + NUMBER_PADDING

    @property
    def head_rect(self) -> QRectF:
        """Right of the newest frame: where the run goes on."""
        cells = self.layout.cells
        left = self.x_of(len(self.track)) + GAP
        return QRectF(left, cells.top(), HEAD_WIDTH - GAP, cells.height())

    @cached_property
    def logit_range(self) -> tuple[float, float]:
        """The lowest and highest number of the plot: all logits and thresholds fit in."""
        numbers = np.append(self.track.logits, self.track.thresholds)
        numbers = numbers[np.isfinite(numbers)]
        if not numbers.size:
            return -1.0, 1.0
        low, high = float(numbers.min()), float(numbers.max())
        room = (high - low) * 0.08 or 1.0
        return low - room, high + room

    def y_of_logit(self, logit: float) -> float:
        low, high = self.logit_range
        plot = self.layout.plot
        return plot.bottom() - (logit - low) / (high - low) * plot.height()


def lay_out(
    width: float, height: float, *, chunks: int, with_times: bool, head: bool, marks: bool = False
) -> LineLayout:
    """Divide a place of some size into rows; the plot takes what the others leave."""
    right = width - (HEAD_WIDTH if head else RIGHT_MARGIN)
    across = max(1.0, right - GUTTER)
    named = chunks > 1 or (chunks == 1 and height >= ROOM_FOR_TEXT)
    chunk_height = CHUNK_HEIGHT if named else 0.0
    cells_top = TOP + chunk_height + (GAP - 1 if named else 0.0)
    marks_top = cells_top + CELL_HEIGHT + 1
    marks_height = MARKS_HEIGHT if marks else 0.0
    plot_top = marks_top + marks_height + GAP - 1
    left_over = height - plot_top - GAP
    times = TIMES_HEIGHT if with_times and left_over >= TIMES_HEIGHT + GAP + LEAST_PLOT else 0.0
    plot = max(1.0, left_over - times - (GAP if times else 0.0))
    return LineLayout(
        QRectF(GUTTER, TOP, across, chunk_height),
        QRectF(GUTTER, cells_top, across, CELL_HEIGHT),
        QRectF(GUTTER, marks_top, across, marks_height),
        QRectF(GUTTER, plot_top, across, plot),
        QRectF(GUTTER, plot_top + plot + GAP, across, times),
    )


def axis_frames(frames: int, *, growing: bool) -> int:
    """How many frames the axis has room for: these, or some more if more are to come."""
    if not growing:
        return max(1, frames)
    steps = ceil(log(max(1.0, frames / FIRST_FRAMES)) / log(GROWTH) - 1e-9)
    return round(FIRST_FRAMES * GROWTH**steps)


def fitted_cell(width: float, frames: int) -> float:
    """The width of a cell at which all frames are in view."""
    return min(width / max(1, frames), WIDEST_FITTED)
