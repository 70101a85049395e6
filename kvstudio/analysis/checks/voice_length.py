"""overwrite and stale-read: the run does not begin where the voice ends.

The recording knows how many slots the voice took when it was made. A run that begins before that
writes over the rest of the voice; one that begins after it goes on after somebody's speech.
"""

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
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache


class VoiceLengthCheck:
    """The offset at which the first chunk begins, against the length of the voice."""

    def __init__(self) -> None:
        self._short, self._long = Sightings(), Sightings()

    def look(self, view: FrameView) -> None:
        slots = view.recording.facts.voice.get("slots")
        first = view.chunk.id == 0 and view.chunk.continues is None
        if not first or not isinstance(slots, int) or view.frame.phase == "decode":
            return
        offsets = view.recording.base_offsets(0)
        for cache in view.recording.caches:
            offset = offsets.get(cache.id)
            if cache.model != "flow_lm" or offset is None:
                continue
            if offset < slots and view.frame.phase == "text":
                self._short.add(cache, view.frame, (offset, slots))
            if offset > slots and view.frame.id == 0 and _holds_speech(view, cache, slots, offset):
                self._long.add(cache, view.frame, (slots, offset))

    def findings(self, recording: Recording) -> list[Finding]:
        return [*self._short.findings(_cut_short), *self._long.findings(_spoken_with)]


def _holds_speech(view: FrameView, cache: Cache, first: int, last: int) -> bool:
    """Whether the slots after the voice hold numbers; those that hold none are a hole."""
    base = view.recording.values_before_expansion(cache, 0)
    if base is None or base.shape[2] < last:
        return False
    after = base[:, :, first:last]
    return bool(np.isfinite(after).all() and after.any())


def _cut_short(group: list[Sighting]) -> Finding:
    first = group[0]
    begin, length = first.slots
    slots = slots_words(first.slots)
    message = (
        f"{layers_words([seen.cache for seen in group])}: the voice takes {length} slots, but "
        f"{frame_words(first.frame)} begins at offset {begin} and writes over {slots}: the end of "
        "the voice is lost. Look at how the state's offset was restored."
    )
    return finding_of("overwrite", group, message, chain=(_link(first, "are written over"),))


def _spoken_with(group: list[Sighting]) -> Finding:
    first = group[0]
    length, begin = first.slots
    slots = slots_words(first.slots)
    message = (
        f"{layers_words([seen.cache for seen in group])}: the voice takes {length} slots, but the "
        f"run begins at offset {begin}: {slots} hold earlier speech, and every frame attends to "
        "it. Was the state used with copy_state=False? Use a fresh copy of the voice for each text."
    )
    return finding_of("stale-read", group, message, chain=(_link(first, "hold earlier speech"),))


def _link(seen: Sighting, what: str) -> Link:
    words = f"{slots_words(seen.slots)} {what}"
    return Link(words, frame=seen.frame.id, cache=seen.cache.id, slot=seen.slots[0])
