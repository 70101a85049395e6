"""no-eos and length-cut: a chunk that ended because its room was used up.

A chunk that ends by EOS drops the latent of its last step; one that is ended by its length decodes
it. So the audio of the last step tells which of the two it was.
"""

import math

from kvstudio.analysis.finding import Finding, frame_words, sum_words
from kvstudio.analysis.ledger import frames_of
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Chunk, Frame


def check_ending(recording: Recording) -> list[Finding]:
    if recording.status != "finished":
        return []
    heard = {frame for frame, _, _ in recording.audio_frames()}
    found = []
    for chunk in recording.chunks:
        decoded = [frame for frame in frames_of(recording, chunk) if frame.phase == "decode"]
        if decoded and len(decoded) >= chunk.max_gen_len and decoded[-1].id in heard:
            ended = [frame for frame in decoded if frame.eos]
            found.append(_cut(chunk, ended[0], decoded[-1]) if ended else _no_eos(chunk, decoded))
    return found


def _no_eos(chunk: Chunk, decoded: list[Frame]) -> Finding:
    last = decoded[-1]
    logits = [f.stop_logit for f in decoded if f.stop_logit is not None]
    numbers = [logit for logit in logits if not math.isnan(logit)]
    if len(numbers) < len(logits):
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
    return _finding("no-eos", chunk, last, message, (sum_words(chunk), why))


def _cut(chunk: Chunk, eos: Frame, last: Frame) -> Finding:
    message = (
        f"Chunk {chunk.id} was cut off at its maximum length of {chunk.max_gen_len} frames: EOS "
        f"came in {frame_words(eos)}, and the frames after it did not all fit. The end of the last "
        "word may be missing. Use shorter chunks (max tokens) or fewer frames after EOS."
    )
    chain = (sum_words(chunk), f"EOS in {frame_words(eos)}", f"cut off after {frame_words(last)}")
    return _finding("length-cut", chunk, last, message, chain)


def _finding(kind: str, chunk: Chunk, last: Frame, message: str, chain: tuple[str, ...]) -> Finding:
    return Finding(
        kind=kind,
        severity="warning",
        message=message,
        frame=last.id,
        phase=last.phase,
        chain=chain,
    )
