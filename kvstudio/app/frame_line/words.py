"""Frames in words: what a cell shows when there is room, and all of it for a tool tip."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from kvstudio.app.words import counted

if TYPE_CHECKING:
    from kvstudio.recording.rows import Chunk, Frame

EMPTY = "No frames yet: Step runs the voice prefill, which is the first."
FRAME_MS = 80.0
"""Milliseconds of speech in a frame: what takes longer cannot keep up."""

_MINUS = "\N{MINUS SIGN}"


def cell_words(frame: Frame) -> tuple[str, ...]:
    """From the longest on: `P voice`, `P text`, or the number of a decode step's frame."""
    if frame.phase == "decode":
        return (str(frame.id),)
    return (f"P {frame.phase}", frame.phase, "P")


def frame_lines(frame: Frame, chunk: Chunk | None) -> list[str]:
    """Everything about a frame, a line for each matter."""
    lines = [f"Frame {frame.id}: {frame.title}"]
    if chunk is not None:
        lines.append(f"chunk {chunk.id + 1}: {shortened(chunk.text)}")
    if frame.stop_logit is not None:
        lines.append(logit_words(frame))
    lines.append(f"{counted(frame.op_count, 'op')}, {time_words(frame)}")
    if frame.problem is not None:
        lines.append(f"ended early: {frame.problem}")
    return lines


def logit_words(frame: Frame) -> str:
    """Such as `stop logit -6.2, below the threshold of -4`."""
    logit, threshold = frame.stop_logit, frame.stop_threshold
    if logit is None:
        return "no stop logit"
    if isnan(logit):
        return "stop logit NaN, which never ends the speech"
    words = f"stop logit {number_words(logit)}"
    if threshold is None:
        return words
    side = "above" if frame.eos else "not above" if logit >= threshold else "below"
    end = ": EOS" if frame.eos else ""
    return f"{words}, {side} the threshold of {number_words(threshold)}{end}"


def time_words(frame: Frame) -> str:
    flow_lm, mimi = frame.flow_lm_ns / 1e6, frame.mimi_ns / 1e6
    if not mimi:
        return f"{flow_lm:.0f} ms"
    slow = f", longer than its {FRAME_MS:.0f} ms of speech" if flow_lm + mimi > FRAME_MS else ""
    return f"{flow_lm + mimi:.0f} ms (FlowLM {flow_lm:.0f}, Mimi {mimi:.0f}){slow}"


def number_words(number: float) -> str:
    return f"{number:.3g}".replace("-", _MINUS)


def shortened(text: str, length: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
