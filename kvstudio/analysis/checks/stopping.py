"""early-eos and no-eos: the stop test was not the one that the run asked for."""

import math

from kvstudio.analysis.finding import Finding, Link, frame_words, sentence
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Chunk, Frame

CLOSE = 1e-6
ENDED_BY_EOS = "ended by EOS"


class StoppingCheck:
    """Thresholds that are not the one asked for, and ends without a reason."""

    def __init__(self) -> None:
        self._wanted: float | None = None
        self._other: Finding | None = None
        self._unfounded: Finding | None = None
        self._chunk: Chunk | None = None
        self._last: Frame | None = None  # decode step of the chunk, if it was not decoded
        self._ended = False  # the stop logit of the chunk came past the threshold
        self._decoded = False  # latents of the chunk are decoded as they come

    def look(self, view: FrameView) -> None:
        frame = view.frame
        if self._chunk is None or view.chunk.id != self._chunk.id:
            self._end()
            self._chunk, self._last, self._ended = view.chunk, None, False
            # A script may make latents for something else than sound.
            self._decoded = view.recording.spec.model.kind != "script"
        if frame.phase != "decode":
            return
        self._compare(view)
        self._ended = self._ended or frame.eos
        unheard = view.samples is None and frame.problem is None
        self._decoded |= not (unheard or frame.is_codec_alone)
        dropped = unheard and self._decoded and frame.stop_logit is not None
        self._last = frame if dropped else None
        if frame.eos and _is_short(frame):
            self._unfounded = self._unfounded or _without_reason(frame)

    def findings(self, recording: Recording) -> list[Finding]:
        found = [each for each in (self._other, self._unfounded) if each is not None]
        ended = recording.facts.reason == ENDED_BY_EOS or recording.spec.model.kind == "script"
        over = recording.facts.status == "finished" and ended
        if self._unfounded is None and over and self._last is not None and not self._ended:
            found.append(_without_reason(self._last))
        return found

    def _end(self) -> None:
        """The chunk is over; one that ended by EOS drops the latent of its last step."""
        if self._last is not None and not self._ended:
            self._unfounded = self._unfounded or _without_reason(self._last)

    def _compare(self, view: FrameView) -> None:
        used = view.frame.stop_threshold
        if used is None or self._other is not None:
            return
        if self._wanted is None:
            self._wanted = _asked_for(view.recording, used)
        if not math.isclose(used, self._wanted, rel_tol=CLOSE, abs_tol=CLOSE):
            self._other = _other_threshold(view.frame, used, self._wanted)


def _asked_for(recording: Recording, first_used: float) -> float:
    """The threshold of the run spec, else the model's own, else that of the first frame."""
    asked = recording.spec.eos_threshold
    own = recording.facts.model.get("eos_threshold")
    if asked is not None:
        return asked
    return float(own) if isinstance(own, (int, float)) else first_used


def _is_short(frame: Frame) -> bool:
    logit, threshold = frame.stop_logit, frame.stop_threshold
    return logit is not None and threshold is not None and not logit > threshold


def _other_threshold(frame: Frame, used: float, wanted: float) -> Finding:
    lower = used < wanted
    follows = (
        "Speech ends before the text is over."
        if lower
        else "Speech goes on after the text is over, perhaps to its maximum length."
    )
    message = (
        f"{sentence(frame_words(frame))} compared its stop logit with "
        f"{used:g}, but the run asked for {wanted:g}. {follows} Look for code that sets "
        "eos_threshold, such as a hook that was never removed."
    )
    link = Link(f"stop threshold {used:g} instead of {wanted:g}", frame=frame.id)
    return _finding("early-eos" if lower else "no-eos", frame, message, link)


def _without_reason(frame: Frame) -> Finding:
    logit = "unknown" if frame.stop_logit is None else f"{frame.stop_logit:.2f}"
    threshold = "unknown" if frame.stop_threshold is None else f"{frame.stop_threshold:g}"
    message = (
        f"Speech was ended in {frame_words(frame)} though the stop logit did not exceed the "
        f"threshold: it is {logit}, the threshold {threshold}. The rest of the text is missing. "
        "Look for who sets the stop flag: a hook or a wrapper around flow_lm."
    )
    link = Link(f"ended with the stop logit at {logit}, threshold {threshold}", frame=frame.id)
    return _finding("early-eos", frame, message, link)


def _finding(kind: str, frame: Frame, message: str, link: Link) -> Finding:
    return Finding(
        kind=kind,
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        chain=(link,),
    )
