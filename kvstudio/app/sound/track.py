"""The sound of a recording so far: its samples, and which frame and chunk each belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.growing import Growing
from kvstudio.app.sound.envelope import Envelope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kvstudio.app.sound.marks import SoundMark
    from kvstudio.recording.reader import Recording

SAMPLE_RATE = 24_000


class SoundTrack:
    """Grows with the recording it takes in. Positions are samples, ranges half-open.

    Attributes:
        sample_rate: hertz.
        envelope: the samples.
        chunk_starts: (first sample, chunk id) of every chunk that has sound.
        marks: where findings are heard.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.sample_rate = SAMPLE_RATE
        self.envelope = Envelope()
        self.chunk_starts: list[tuple[int, int]] = []
        self.marks: tuple[SoundMark, ...] = ()
        self._frames: Growing[np.int64] = Growing(np.int64)
        self._starts: Growing[np.int64] = Growing(np.int64)

    def __len__(self) -> int:
        return len(self.envelope)

    @property
    def samples(self) -> NDArray[np.float32]:
        return self.envelope.samples

    @property
    def seconds(self) -> float:
        return len(self) / self.sample_rate

    @property
    def frames(self) -> NDArray[np.int64]:
        """Ids of the frames that have sound."""
        return self._frames.now

    @property
    def edges(self) -> NDArray[np.int64]:
        """First sample of every frame, and one past the last: `[frames + 1]`."""
        return np.append(self._starts.now, len(self))

    def take_in(self, recording: Recording) -> int:
        """Append what the recording has added; how many samples that were."""
        before = len(self)
        self.sample_rate = recording.facts.sample_rate or SAMPLE_RATE
        last = int(self._frames.now[-1]) if len(self._frames) else -1
        parts, start = [], before
        for frame, _, samples in recording.audio_frames(last):
            chunk = recording.frames[frame].chunk
            if not self.chunk_starts or self.chunk_starts[-1][1] != chunk:
                self.chunk_starts.append((start, chunk))
            self._frames.append([frame])
            self._starts.append([start])
            start += len(samples)
            parts.append(samples)
        if parts:
            self.envelope.append(np.concatenate(parts))
        return len(self) - before

    def frame_at(self, sample: float) -> int | None:
        """The frame that a sample belongs to."""
        if not 0 <= sample < len(self):
            return None
        return int(self.frames[np.searchsorted(self._starts.now, sample, "right") - 1])

    def range_of(self, frame: int | None) -> tuple[int, int] | None:
        """The samples of a frame, if it has any."""
        place = int(np.searchsorted(self.frames, frame)) if frame is not None else len(self.frames)
        if place == len(self.frames) or self.frames[place] != frame:
            return None
        first, last = self.edges[place : place + 2].tolist()
        return (first, last) if last > first else None

    def nearest_edge(self, sample: float) -> int:
        """The frame boundary closest to a position."""
        edges = self.edges
        return int(edges[np.abs(edges - sample).argmin()])
