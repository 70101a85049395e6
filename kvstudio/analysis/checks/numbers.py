"""nan-produced and audio-nan: numbers that were computed and are none."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kvstudio.analysis.finding import (
    Finding,
    Sighting,
    Sightings,
    finding_of,
    frame_words,
    layers_words,
    slots_words,
)
from kvstudio.analysis.steps import Step, steps
from kvstudio.recording.ops import part_word
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Op

NAN = 1


@dataclass(frozen=True)
class FirstNan:
    """Where NaN is first met on its way from the cache to the ear, frame ids, or None."""

    latent: int | None
    logit: int | None
    audio: int | None
    audio_seconds: float
    nan_samples: int


def check_nan_in_cache(recording: Recording) -> list[Finding]:
    """NaN in a slot that was written during the run, or that the voice state brought along."""
    if recording.spec.trace == "off":
        return []  # values were not recorded
    sightings = Sightings()
    which: dict[int, Literal["K", "V"] | None] = {}
    known: dict[int, int] = {}  # NaN slots below the offset, by cache
    for step in steps(recording):
        below = step.nan_slots - max(0, step.capacity - step.offset)
        more, known[step.cache.id] = below - known.get(step.cache.id, 0), below
        if more <= 0:
            continue
        if step.cache.id in which:
            sightings.add(step.cache, step.frame, (0, 0), more)
            continue
        slots, kv = _nan_slots(recording, step)
        if slots:
            which[step.cache.id] = kv
            sightings.add(step.cache, step.frame, (slots[0], slots[-1] + 1), len(slots))
    if not sightings.groups():
        return []
    path = _first_nan(recording)
    return [
        _produced(recording, group, which[group[0].cache.id], path) for group in sightings.groups()
    ]


def check_audio(recording: Recording) -> list[Finding]:
    path = _first_nan(recording)
    if path.audio is None:
        return []
    frame = recording.frames[path.audio]
    message = (
        f"{path.nan_samples:,} samples of the audio are NaN, from second {path.audio_seconds:.2f} "
        f"({frame_words(frame)}) on. In a 16-bit file they are silence. "
        "Look for the first NaN in the latents, then in the cache: it came from there, or from "
        "Mimi's own state."
    )
    return [
        Finding(
            kind="audio-nan",
            severity="error",
            message=message,
            frame=frame.id,
            phase=frame.phase,
            chain=_links(recording, path),
            count=path.nan_samples,
        )
    ]


def _nan_slots(recording: Recording, step: Step) -> tuple[list[int], Literal["K", "V"] | None]:
    """Slots with NaN that this frame wrote or found, and whether only K or only V has them."""
    found = recording.slots(step.cache, step.frame.id)
    values = recording.values(step.cache, step.frame.id)
    nan = np.isnan(values)  # [2, B, T, H, D]
    # A slot of the voice state that is NaN throughout was never written: that is a hole.
    unwritten = ~found.written | ((found.frames < 0) & nan.all(axis=(0, 1, 3, 4)))
    wrong = nan.any(axis=(1, 3, 4)) & ~unwritten  # [2, T]
    wrong[:, step.offset :] = False
    k, v = bool(wrong[0].any()), bool(wrong[1].any())
    return np.flatnonzero(wrong.any(0)).tolist(), None if k == v else ("K" if k else "V")


def _produced(
    recording: Recording, group: list[Sighting], kv: Literal["K", "V"] | None, path: FirstNan
) -> Finding:
    first = group[0]
    op = _origin(recording, first)
    layers = layers_words([seen.cache for seen in group])
    message = (
        f"{layers}: NaN was computed and written to {kv or 'K and V'}, first in "
        f"{frame_words(first.frame)}, {slots_words(first.slots)}. Later frames attend to it and "
        "become NaN too, the stop test never fires, and the audio ends in silence. "
        f"{'Look at' if op is None else f'{op.name} is'} the first op of that frame that takes no "
        "NaN and gives one."
    )
    origin = f"{frame_words(first.frame)}: NaN in {slots_words(first.slots)}, {layers[0].lower()}"
    origin += layers[1:]
    return finding_of(
        "nan-produced", group, message, chain=(origin, *_links(recording, path)), kv=kv, op=op
    )


def _origin(recording: Recording, seen: Sighting) -> Op | None:
    """The first op of the model's own that took no NaN and gave one, if ops were recorded."""
    recording.ops.refresh()
    for number in recording.ops.of_frame(seen.frame.id):
        flags = int(recording.ops.flags[number])  # nan_in * 4 + nan_out
        if flags % 4 == NAN and flags // 4 != NAN:
            op = recording.ops.get(int(number))
            if part_word(op.part) == seen.cache.model:
                return op
    return None


def _first_nan(recording: Recording) -> FirstNan:
    latent = logit = audio = None
    seconds, count = 0.0, 0
    for frame in recording.frames:
        values = recording.latent(frame.id)
        if latent is None and values is not None and bool(np.isnan(values).any()):
            latent = frame.id
        if logit is None and frame.stop_logit is not None and np.isnan(frame.stop_logit):
            logit = frame.id
    for number, first, samples in recording.audio_frames():
        nan = np.flatnonzero(np.isnan(samples))
        count += len(nan)
        if audio is None and len(nan):
            audio, seconds = number, (first + int(nan[0])) / recording.facts.sample_rate
    return FirstNan(latent, logit, audio, seconds, count)


def _links(recording: Recording, path: FirstNan) -> tuple[str, ...]:
    links = []
    if path.latent is not None:
        links.append(f"the latent is NaN from {frame_words(recording.frames[path.latent])} on")
    if path.logit is not None:
        where = frame_words(recording.frames[path.logit])
        links.append(f"the stop logit is NaN from {where} on, and NaN never exceeds the threshold")
    if path.audio is not None:
        links.append(f"the audio is NaN from second {path.audio_seconds:.2f} on")
    return tuple(links)
