"""hole: slots of the voice state that hold nothing but zeros.

A reset that zeroes the cache in place and leaves the offset as it is leaves slots that count as
written. A zero key gets attention weight like any other, so the voice fades and nothing complains.
"""

import numpy as np

from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    finding_of,
    layers_words,
    slots_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.surprises import changed_slots
from kvstudio.recording.reader import Recording


class ZeroSlotsCheck:
    """Zeros below the offset in what a chunk begins with."""

    def __init__(self) -> None:
        self._seen = Sightings()
        self._chunk: int | None = None

    def look(self, view: FrameView) -> None:
        if view.chunk.id == self._chunk:
            return
        self._chunk = view.chunk.id
        changed = {cache.id for cache, _ in changed_slots(view, "flow_lm")}  # an overwrite
        offsets = view.recording.base_offsets(view.chunk.id)
        for cache in view.recording.caches:
            if cache.model != "flow_lm" or cache.id in changed:
                continue
            base = view.recording.values_before_expansion(cache, view.chunk.id)
            if base is None:
                continue
            zero = ~base[:, :, : offsets.get(cache.id, 0)].any(axis=(0, 1, 3, 4))
            slots = np.flatnonzero(zero)
            if len(slots):
                gaps = np.flatnonzero(np.diff(slots) > 1)
                last = slots[gaps[0]] if len(gaps) else slots[-1]
                run = (int(slots[0]), int(last) + 1)
                self._seen.add(cache, view.frame, run, len(slots))

    def findings(self, recording: Recording) -> list[Finding]:
        found = self._seen.findings(_finding)
        return [each for each in found if not _is_the_marker(recording, each)]


def _is_the_marker(recording: Recording, finding: Finding) -> bool:
    """Whether it is just the slot of a marker that is missing, which is its own finding.

    Zeros fed in the marker's place make zeros, if the weights add nothing.
    """
    frame = finding.frame or 0
    prefix = recording.evidence.prefixes().get(recording.frames[frame].chunk)
    missing = prefix is not None and prefix.marker_wanted and prefix.marker_slot is None
    return missing and finding.slots == (0, 1)


def _finding(group: list[Sighting]) -> Finding:
    first = group[0]
    slots, layers = slots_words(first.slots), layers_words([seen.cache for seen in group])
    message = (
        f"{layers}: {slots} of the voice state hold nothing but zeros, but lie below the offset. "
        "Every frame attends to them, and a zero key gets weight like any other: the voice fades "
        "and nothing complains. Was the cache reset and its offset not? Make the voice state again."
    )
    words = f"{slots} of {layers[0].lower()}{layers[1:]} hold nothing but zeros"
    link = Link(words, frame=first.frame.id, cache=first.cache.id, slot=first.slots[0])
    return finding_of("hole", group, message, chain=(link,))
