"""hole: a slot that attention reads, below the offset, that nobody ever wrote."""

from collections.abc import Iterator

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
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame
from kvstudio.recording.slots import SlotMap


def check_holes(recording: Recording) -> list[Finding]:
    """Slots that a frame passed over, and slots of the voice state that hold nothing but NaN."""
    passed, unvoiced = Sightings(), Sightings()
    for step, found in _with_maps(recording):
        empty = _passed_over(step, found)
        if empty:
            first = _first_run(empty)
            passed.add(step.cache, step.frame, first, len(empty))
    for frame in _first_frames(recording):
        for cache in recording.caches:
            base = recording.values_before_expansion(cache, frame.chunk)
            if base is not None:
                used = base[:, :, : recording.base_offsets(frame.chunk).get(cache.id, 0)]
                nan = np.flatnonzero(np.isnan(used).all(axis=(0, 1, 3, 4))).tolist()
                if nan:
                    unvoiced.add(cache, frame, _first_run(nan), len(nan))
    return [_unvoiced(group) for group in unvoiced.groups()] + [
        _passed(group) for group in passed.groups()
    ]


def _with_maps(recording: Recording) -> Iterator[tuple[Step, SlotMap]]:
    """Every step with the slots of its cache after it."""
    frame = -1
    maps: dict[int, SlotMap] = {}
    for step in steps(recording):
        if step.frame.id != frame:
            frame = step.frame.id
            maps = {found.cache.id: found for found in recording.slot_maps(frame)}
        yield step, maps[step.cache.id]


def _passed_over(step: Step, found: SlotMap) -> list[int]:
    """Slots between the offsets before and after that are still unwritten."""
    empty = np.flatnonzero(~found.written[step.before : step.offset])
    return [int(slot) + step.before for slot in empty]


def _first_frames(recording: Recording) -> list[Frame]:
    """The first frame of every chunk."""
    firsts: dict[int, Frame] = {}
    for frame in recording.frames:
        firsts.setdefault(frame.chunk, frame)
    return list(firsts.values())


def _first_run(slots: list[int]) -> tuple[int, int]:
    last = slots[0]
    while last + 1 in slots:
        last += 1
    return (slots[0], last + 1)


def _passed(group: list[Sighting]) -> Finding:
    first = group[0]
    message = (
        f"{layers_words([seen.cache for seen in group])}: {frame_words(first.frame)} moved the "
        f"offset past {slots_words(first.slots)}, which nobody wrote. Attention reads what happens "
        "to lie there: NaN spreads to every later frame, zeros change the voice quietly. "
        "Look at where the frame's K and V were written, in the cache map and the ops."
    )
    return finding_of("hole", group, message)


def _unvoiced(group: list[Sighting]) -> Finding:
    first = group[0]
    message = (
        f"{layers_words([seen.cache for seen in group])}: {slots_words(first.slots)} of the voice "
        "state hold nothing but NaN, as if never written, but lie below the offset. Every frame "
        "attends to them, so every latent becomes NaN. Make the voice state again."
    )
    return finding_of("hole", group, message)
