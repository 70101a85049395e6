"""hole: a slot that attention reads, below the offset, that nobody ever wrote."""

import numpy as np

from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    finding_of,
    frame_words,
    layers_words,
    slots_words,
    within,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.steps import Step
from kvstudio.recording.reader import Recording
from kvstudio.recording.slots import Write


class HolesCheck:
    """Slots that a frame passed over, and slots of the voice state that hold nothing but NaN."""

    def __init__(self) -> None:
        self._passed, self._unvoiced = Sightings(), Sightings()
        self._chunk = -1

    def look(self, view: FrameView) -> None:
        if view.chunk.id != self._chunk:
            self._chunk = view.chunk.id
            if not view.keeps_elsewhere("flow_lm"):
                self._look_at_voice(view)
        for step in view.steps:
            if _covers(view.writes.get(step.cache.id, []), step):
                continue
            written = view.slot_maps[step.cache.id].written[step.before : step.offset]
            empty = [int(slot) + step.before for slot in np.flatnonzero(~written)]
            if empty and not view.keeps_elsewhere(step.cache.model):
                self._passed.add(step.cache, step.frame, _first_run(empty), len(empty))

    def findings(self, recording: Recording) -> list[Finding]:
        return [*self._unvoiced.findings(_unvoiced), *self._passed.findings(_passed)]

    def _look_at_voice(self, view: FrameView) -> None:
        offsets = view.recording.base_offsets(view.chunk.id)
        for cache in view.recording.caches:
            base = view.recording.values_before_expansion(cache, view.chunk.id)
            if base is not None:
                offset = offsets.get(cache.id, 0)
                used = base[:, :, :offset]
                nan = np.flatnonzero(np.isnan(used).all(axis=(0, 1, 3, 4))).tolist()
                if base.shape[2] < offset:  # it was restored too far
                    self._unvoiced.add(
                        cache, view.frame, (base.shape[2], offset), offset - base.shape[2]
                    )
                elif nan:
                    self._unvoiced.add(cache, view.frame, _first_run(nan), len(nan))


def _covers(writes: list[Write], step: Step) -> bool:
    """Whether one write of the frame fills all that its offset moved over, as it should."""
    moved = step.offset > step.before
    return not moved or any(
        write.first <= step.before and step.offset <= write.last for write in writes
    )


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
    words = f"{frame_words(first.frame)} should have written {_slots_of(group)}, and did not"
    return finding_of("hole", group, message, chain=[_slot_link(first, words)])


def _unvoiced(group: list[Sighting]) -> Finding:
    first = group[0]
    message = (
        f"{layers_words([seen.cache for seen in group])}: {slots_words(first.slots)} of the voice "
        "state hold nothing but NaN, as if never written, but lie below the offset. Every frame "
        "attends to them, so every latent becomes NaN. Make the voice state again."
    )
    words = f"the voice state has nothing in {_slots_of(group)}"
    return finding_of("hole", group, message, chain=[_slot_link(first, words)])


def _slots_of(group: list[Sighting]) -> str:
    return f"{slots_words(group[0].slots)} of {within(layers_words([s.cache for s in group]))}"


def _slot_link(seen: Sighting, words: str) -> Link:
    return Link(words, frame=seen.frame.id, cache=seen.cache.id, slot=seen.slots[0])
