"""audio-silence, audio-click and audio-clipped: what can be heard to be wrong, whatever made it.

Only finite audio is judged here; NaN has a finding of its own. The limits are far from what speech
does, and from the noise of untrained weights.
"""

from dataclasses import replace

import numpy as np

from kvstudio.analysis.finding import Finding, Link, frame_words, sentence
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Floats, Frame

SILENT_PEAK = 1e-5
SILENT_FRAMES = 5
SILENT_RMS = 1e-4
CLICK_RATIO = 2.0
"""How far a jump at a join must exceed the largest of 3,840 inside the frames on both sides.

Of 700 joins of healthy speech and noise none came to 0.8 of it.
"""
CLICK_JUMP = 0.03
CLIPPED_SAMPLES = 100
CLIPPED_SHARE = 1e-3


class SilenceCheck:
    """Frames in a row without a sound, or a chunk without one."""

    def __init__(self) -> None:
        self._found: Finding | None = None
        self._first: tuple[Frame, float] | None = None  # silent frame, and its second
        self._silent = 0  # frames in a row
        self._chunk = -1
        self._begin: tuple[Frame, float] | None = None  # of the chunk's audio
        self._energy, self._samples = 0.0, 0  # of the chunk

    def look(self, view: FrameView) -> None:
        if view.chunk.id != self._chunk:
            self._found = self._found or self._silent_chunk()
            self._chunk, self._begin, self._energy, self._samples = view.chunk.id, None, 0.0, 0
            self._silent = 0
        if view.samples is None or not len(view.samples):
            return
        here = (view.frame, _second(view))
        self._begin = self._begin or here
        self._energy += float(np.square(view.samples, dtype=np.float64).sum())
        self._samples += len(view.samples)
        if not float(np.abs(view.samples).max()) < SILENT_PEAK:  # NaN is no silence
            self._silent = 0
            return
        self._first = here if self._silent == 0 else self._first
        self._silent += 1
        if self._silent == SILENT_FRAMES and self._found is None and self._first is not None:
            words = f"{SILENT_FRAMES} frames in a row are silent"
            self._found = _silence(*self._first, words)

    def findings(self, recording: Recording) -> list[Finding]:
        found = self._found
        if found is None and recording.facts.status == "finished":
            found = self._silent_chunk()
        return [] if found is None else [found]

    def _silent_chunk(self) -> Finding | None:
        if self._begin is None or not self._samples:
            return None
        if not (self._energy / self._samples) ** 0.5 < SILENT_RMS:
            return None
        return _silence(*self._begin, f"all of chunk {self._chunk} is silent")


class ClickCheck:
    """Jumps at the join of two frames, far beyond those inside the frames."""

    def __init__(self) -> None:
        self._found: Finding | None = None
        self._count = 0
        self._before: tuple[int, int, Floats] | None = None  # chunk, frame and samples

    def look(self, view: FrameView) -> None:
        before, self._before = self._before, None
        samples = view.samples
        if samples is None or len(samples) < 2 or not np.isfinite(samples).all():
            return
        self._before = (view.chunk.id, view.frame.id, samples)
        if before is None or before[:2] != (view.chunk.id, view.frame.id - 1):
            return
        jump = abs(float(samples[0]) - float(before[2][-1]))
        usual = max(_largest_jump(before[2]), _largest_jump(samples))
        if jump > CLICK_JUMP and jump > CLICK_RATIO * usual:
            self._count += 1
            self._found = self._found or _click(view, jump, usual)

    def findings(self, recording: Recording) -> list[Finding]:
        return [] if self._found is None else [replace(self._found, count=self._count)]


class ClippingCheck:
    """Samples beyond full scale, if they are many."""

    def __init__(self) -> None:
        self._first: tuple[Frame, float] | None = None
        self._over = self._samples = 0
        self._peak = 0.0

    def look(self, view: FrameView) -> None:
        if view.samples is None or not np.isfinite(view.samples).all():
            return
        loud = np.flatnonzero(np.abs(view.samples) > 1)
        self._samples += len(view.samples)
        self._over += len(loud)
        if len(loud):
            self._first = self._first or (view.frame, _second(view, int(loud[0])))
            self._peak = max(self._peak, float(np.abs(view.samples).max()))

    def findings(self, recording: Recording) -> list[Finding]:
        many = self._over >= CLIPPED_SAMPLES and self._over >= CLIPPED_SHARE * self._samples
        if self._first is None or not many:
            return []
        frame, second = self._first
        message = (
            f"{self._over:,} samples go beyond full scale, to {self._peak:.2f}, from second "
            f"{second:.2f} ({frame_words(frame)}) on. A 16-bit file cuts them off, which is heard "
            "as a rasp. Look at the latents from that frame on: are they larger than before?"
        )
        text = f"audio beyond full scale from second {second:.2f} on"
        return [_finding("audio-clipped", frame, second, message, text, self._over)]


def _second(view: FrameView, sample: int = 0) -> float:
    rate = view.recording.facts.sample_rate
    return (view.first_sample + sample) / rate if rate > 0 else 0.0


def _largest_jump(samples: Floats) -> float:
    return float(np.abs(np.diff(samples)).max())


def _silence(frame: Frame, second: float, words: str) -> Finding:
    message = (
        f"{sentence(words)}, from second {second:.2f} ({frame_words(frame)}) on: every "
        "sample is as good as zero, which even a pause in speech is not. Look at the latents of "
        "these frames, and at what Mimi was given."
    )
    text = f"{words} from second {second:.2f} on"
    return _finding("audio-silence", frame, second, message, text, 1)


def _click(view: FrameView, jump: float, usual: float) -> Finding:
    second = _second(view)
    message = (
        f"The audio jumps by {jump:.3f} where {frame_words(view.frame)} begins, at second "
        f"{second:.2f}; inside the frames on both sides it never moves by more than {usual:.3f} "
        "from one sample to the next. That is heard as a click. Look at Mimi's state between the "
        "two frames."
    )
    text = f"the audio jumps by {jump:.3f} at second {second:.2f}"
    return _finding("audio-click", view.frame, second, message, text, 1)


def _finding(
    kind: str, frame: Frame, second: float, message: str, text: str, count: int
) -> Finding:
    return Finding(
        kind=kind,
        severity="warning",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        chain=(Link(text, frame=frame.id, second=second),),
        count=count,
    )
