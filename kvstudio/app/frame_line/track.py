"""The frames of a recording so far, in columns, so that thousands are drawn at once."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.frame_line.marks import FrameMarks
from kvstudio.app.growing import Growing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kvstudio.recording.rows import Frame


class CellKind(IntEnum):
    """What one frame is drawn as; of several in one pixel, the highest wins."""

    DECODE = 0
    TEXT = 1
    VOICE = 2
    PROBLEM = 3


_PHASES = {"decode": CellKind.DECODE, "text": CellKind.TEXT, "voice": CellKind.VOICE}


class FrameTrack:
    """Grows with the recording; position n is frame n.

    Attributes:
        chunk_starts: (first frame, chunk id) of every chunk.
        marks: findings and edits.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._frames: list[Frame] = []
        self._kinds: Growing[np.uint8] = Growing(np.uint8)
        self._numbers: Growing[np.float32] = Growing(np.float32, 4)
        self._eos: Growing[np.bool_] = Growing(np.bool_)
        self.chunk_starts: list[tuple[int, int]] = []
        self.marks = FrameMarks()

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, frame: int) -> Frame:
        return self._frames[frame]

    def take_in(self, frames: Sequence[Frame]) -> int:
        """Append what is new in the frames of a recording; how many that were."""
        new = frames[len(self) :]
        for frame in new:
            if not self.chunk_starts or self.chunk_starts[-1][1] != frame.chunk:
                self.chunk_starts.append((frame.id, frame.chunk))
        if new:
            self._kinds.append([_kind(frame) for frame in new])
            self._numbers.append([_numbers(frame) for frame in new])
            self._eos.append([frame.eos for frame in new])
            self._frames += new
        return len(new)

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """`CellKind` of each frame."""
        return self._kinds.now

    @property
    def logits(self) -> NDArray[np.float32]:
        """Stop logits; NaN where a frame has none, too."""
        return self._numbers.now[:, 0]

    @property
    def thresholds(self) -> NDArray[np.float32]:
        """What the logit has to exceed; NaN where a frame has no logit."""
        return self._numbers.now[:, 1]

    @property
    def lacks_number(self) -> NDArray[np.bool_]:
        """Frames whose logit was computed and is not a number."""
        return np.isnan(self.logits) & ~np.isnan(self.thresholds)

    @property
    def times(self) -> NDArray[np.float32]:
        """Milliseconds of FlowLM and of Mimi, `[N, 2]`."""
        return self._numbers.now[:, 2:]

    @property
    def first_eos(self) -> list[int]:
        """Frames in which the logit exceeds the threshold while it did not in the one before."""
        eos = self._eos.now
        return [int(n) for n in np.flatnonzero(eos & ~np.append(False, eos[:-1]))]

    @property
    def problems(self) -> list[int]:
        return [int(n) for n in np.flatnonzero(self.kinds == CellKind.PROBLEM)]


def _kind(frame: Frame) -> CellKind:
    return CellKind.PROBLEM if frame.problem is not None else _PHASES[frame.phase]


def _numbers(frame: Frame) -> tuple[float, float, float, float]:
    logit = np.nan if frame.stop_logit is None else frame.stop_logit
    threshold = np.nan if frame.stop_threshold is None else frame.stop_threshold
    return logit, threshold, frame.flow_lm_ns / 1e6, frame.mimi_ns / 1e6
