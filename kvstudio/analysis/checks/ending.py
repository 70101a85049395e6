"""no-eos and length-cut: a chunk that ended because its room was used up.

A chunk that ends by EOS drops the latent of its last step; one that is ended by its length decodes
it. So the audio of the last step tells which of the two it was.
"""

import math
from dataclasses import dataclass, field

from kvstudio.analysis.finding import Finding, Link, frame_words, sum_words
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.ledger import usual_max_gen_len
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Chunk, Frame


@dataclass
class Ending:
    """The decode steps of one chunk so far."""

    chunk: Chunk
    decoded: int = 0
    last: Frame | None = None
    eos: Frame | None = None
    heard: bool = False  # the last step was
    logits: list[float] = field(default_factory=list)

    @property
    def ran_out(self) -> bool:
        """Whether the chunk, now that it is over, used all its room."""
        return self.decoded >= max(1, self.chunk.max_gen_len) and self.heard


class EndingCheck:
    """Chunks that are over, and how they ended."""

    def __init__(self) -> None:
        self._endings: list[Ending] = []

    def look(self, view: FrameView) -> None:
        if not self._endings or self._endings[-1].chunk.id != view.chunk.id:
            self._endings.append(Ending(view.chunk))
        ending, frame = self._endings[-1], view.frame
        ending.chunk = view.chunk
        if frame.phase == "decode" and not frame.is_codec_alone:
            ending.decoded += 1
            ending.last, ending.heard = frame, view.samples is not None
            ending.eos = ending.eos or (frame if frame.eos else None)
            ending.logits += [] if frame.stop_logit is None else [frame.stop_logit]

    def findings(self, recording: Recording) -> list[Finding]:
        over = self._endings if recording.status == "finished" else self._endings[:-1]
        return [_ran_out(recording, ending) for ending in over if ending.ran_out]


def _ran_out(recording: Recording, ending: Ending) -> Finding:
    if ending.eos is not None:
        return _cut(ending, ending.eos)
    usual = usual_max_gen_len(ending.chunk.token_count, recording.facts.frame_rate)
    return _too_short(ending, usual) if ending.chunk.max_gen_len < usual else _no_eos(ending)


def _no_eos(ending: Ending) -> Finding:
    chunk, last = ending.chunk, ending.last
    assert last is not None
    numbers = [logit for logit in ending.logits if not math.isnan(logit)]
    if len(numbers) < len(ending.logits):
        why = "the stop logit became NaN, and NaN never exceeds the threshold"
    elif numbers:
        why = f"the stop logit came to {max(numbers):.2f} at most, the threshold is "
        why += f"{last.stop_threshold:g}" if last.stop_threshold is not None else "unknown"
    else:
        why = "no stop logit was seen"
    message = (
        f"Chunk {chunk.id} ran to its maximum length of {chunk.max_gen_len} frames without EOS: "
        f"{why}. What is heard after the text is over is noise or silence. "
        "Look at the stop logit over the frames; if it is healthy, lower the EOS threshold."
    )
    return _finding("no-eos", chunk, last, message, [Link(why, frame=last.id)])


def _cut(ending: Ending, eos: Frame) -> Finding:
    chunk, last = ending.chunk, ending.last
    assert last is not None
    message = (
        f"Chunk {chunk.id} was cut off at its maximum length of {chunk.max_gen_len} frames: EOS "
        f"came in {frame_words(eos)}, and the frames after it did not all fit. The end of the last "
        "word may be missing. Use shorter chunks (max tokens) or fewer frames after EOS."
    )
    chain = [
        Link(f"EOS in {frame_words(eos)}", frame=eos.id),
        Link(f"cut off after {frame_words(last)}", frame=last.id),
    ]
    return _finding("length-cut", chunk, last, message, chain)


def _too_short(ending: Ending, usual: int) -> Finding:
    chunk, last = ending.chunk, ending.last
    assert last is not None
    message = (
        f"Chunk {chunk.id} was cut off at its maximum length of {chunk.max_gen_len} frames before "
        f"EOS came; for {chunk.token_count} tokens pocket-tts allows {usual}. The last words are "
        "missing. Look at what computes max_gen_len, and at the length ledger."
    )
    words = f"max_gen_len is {chunk.max_gen_len}, for {chunk.token_count} tokens {usual} is usual"
    chain = [
        Link(words, frame=last.id),
        Link(f"cut off after {frame_words(last)}", frame=last.id),
    ]
    return _finding("length-cut", chunk, last, message, chain)


def _finding(kind: str, chunk: Chunk, last: Frame, message: str, chain: list[Link]) -> Finding:
    return Finding(
        kind=kind,
        severity="warning",
        message=message,
        frame=last.id,
        phase=last.phase,
        chain=(Link(sum_words(chunk), frame=last.id), *chain),
    )
