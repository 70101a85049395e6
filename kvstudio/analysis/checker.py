"""Runs the checks on a recording, frame by frame, while it grows or all at once.

A check is a class like this, one per file in `checks/`, and stands in `CHECKS`:

    class DroppedWrites:
        def __init__(self) -> None:
            self._seen = Sightings()

        def look(self, view: FrameView) -> None:         # every frame, in order; cheap
            for misuse in view.misuses:
                ...
                self._seen.add(cache, view.frame, slots)

        def findings(self, recording: Recording) -> list[Finding]:   # after any frame; cheap
            return [... for group in self._seen.groups()]

A check tells the origin only: its chain goes from the slot to the op that used it. What followed,
from the first NaN latent to the second of audio, is added for all of them in `origins.py`, where
findings that follow from another one become links of its chain.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from kvstudio.analysis.checks.capacity import CapacityCheck
from kvstudio.analysis.checks.codec import CodecStateCheck
from kvstudio.analysis.checks.ending import EndingCheck
from kvstudio.analysis.checks.expansion import ExpansionCheck
from kvstudio.analysis.checks.feeding import FeedingCheck
from kvstudio.analysis.checks.holes import HolesCheck
from kvstudio.analysis.checks.laundering import LaunderingCheck
from kvstudio.analysis.checks.masks import MaskCheck
from kvstudio.analysis.checks.numbers import (
    AudioNanCheck,
    LatentNanCheck,
    NanCheck,
    UnfinishedNanCheck,
)
from kvstudio.analysis.checks.offsets import OffsetJumpCheck, OffsetSkewCheck
from kvstudio.analysis.checks.overwrites import OverwriteCheck
from kvstudio.analysis.checks.positions import PositionCheck
from kvstudio.analysis.checks.prefix import PrefixCheck
from kvstudio.analysis.checks.reads import StaleReadCheck, UnwrittenReadCheck
from kvstudio.analysis.checks.sharing import SharedStateCheck
from kvstudio.analysis.checks.sound import ClickCheck, ClippingCheck, SilenceCheck
from kvstudio.analysis.checks.stopping import StoppingCheck
from kvstudio.analysis.checks.strangers import StrangersCheck
from kvstudio.analysis.checks.tensors import TensorsCheck
from kvstudio.analysis.checks.voices import VoiceCheck
from kvstudio.analysis.checks.zeros import ZeroSlotsCheck
from kvstudio.analysis.coverage import Coverage
from kvstudio.analysis.finding import Finding
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.origins import fold
from kvstudio.analysis.report import Report, report_of
from kvstudio.analysis.steps import StepWalker
from kvstudio.analysis.trail import Trail
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame


class Check(Protocol):
    """One look at a run, for one kind of finding or a few that belong together."""

    def look(self, view: FrameView) -> None:
        """Takes in one frame; called once a frame, in order."""

    def findings(self, recording: Recording) -> list[Finding]:
        """What was found so far; may be asked after any frame, and again."""


CHECKS: tuple[type[Check], ...] = (
    ExpansionCheck,
    CapacityCheck,
    OffsetSkewCheck,
    OffsetJumpCheck,
    HolesCheck,
    ZeroSlotsCheck,
    VoiceCheck,
    TensorsCheck,
    SharedStateCheck,
    PrefixCheck,
    FeedingCheck,
    CodecStateCheck,
    PositionCheck,
    StrangersCheck,
    OverwriteCheck,
    UnwrittenReadCheck,
    StaleReadCheck,
    MaskCheck,
    NanCheck,
    LatentNanCheck,
    UnfinishedNanCheck,
    LaunderingCheck,
    StoppingCheck,
    EndingCheck,
    AudioNanCheck,
    ClickCheck,
    ClippingCheck,
    SilenceCheck,
)


class Checker:
    """Follows a recording with every check.

    Raises:
        RecordingError: from every method; the recording is damaged where a check looked.
    """

    def __init__(self, recording: Recording, checks: Sequence[type[Check]] = CHECKS) -> None:
        self._recording = recording
        self._checks = [check() for check in checks]
        self._walker, self._trail, self._coverage = StepWalker(), Trail(), Coverage()
        self._next = 0  # the first frame that was not looked at
        self._asked: tuple[object, ...] = ()  # what `_findings` holds for
        self._seen: list[Finding] = []
        self._findings: tuple[Finding, ...] = ()

    def advance(self, stop: Callable[[], bool] | None = None) -> bool:
        """Looks at what was added since the last call.

        Args:
            stop: asked before each frame; if it says so, the rest is left for the next call.

        Returns:
            Whether the findings changed.
        """
        self._recording.refresh()
        for frame in self._recording.frames[self._next :]:
            if stop is not None and stop():
                break
            view = self._view(frame)
            for check in self._checks:
                check.look(view)
            self._trail.look(view)
            self._coverage.look(view)
            self._next = frame.id + 1
        before = self._findings
        return self.findings() != before

    def findings(self) -> tuple[Finding, ...]:
        """What was found so far, one for each cause, in the order of the frames."""
        self._ask()
        return self._findings

    def seen(self) -> list[Finding]:
        """What each check saw for itself, consequences too."""
        self._ask()
        return self._seen

    def report(self) -> Report:
        gap = self._coverage.gap()
        return report_of(self._recording, self.findings(), len(self._checks), gap)

    def _ask(self) -> None:
        recording, asked = self._recording, (self._next, self._recording.facts.status)
        if asked != self._asked:
            self._seen = [each for check in self._checks for each in check.findings(recording)]
            self._findings = tuple(fold(recording, self._seen, self._trail))
            self._asked = asked

    def _view(self, frame: Frame) -> FrameView:
        recording = self._recording
        states = recording.cache_states(frame.id)
        audio = recording.frame_audio(frame.id)
        first_sample, samples = (0, None) if audio is None else audio
        count = 0 if samples is None else len(samples)
        steps = self._walker.steps(recording, frame, states, count)
        chunk = recording.chunks[frame.chunk]
        return FrameView(recording, frame, chunk, steps, states, samples, first_sample)


def check(recording: Recording) -> Report:
    """The report of a recording as it is now.

    Raises:
        RecordingError: the recording is damaged where a check looked.
    """
    checker = Checker(recording)
    checker.advance()
    return checker.report()
