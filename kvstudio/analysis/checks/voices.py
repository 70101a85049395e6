"""overwrite and stale-read: a chunk does not begin with the voice as it was made.

The recording knows how many slots the voice took. A chunk that begins before that writes over the
rest of it; one that begins after it goes on after somebody's speech. And a run that copies the
voice for every chunk begins each with the same numbers.
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
from kvstudio.analysis.surprises import changed_slots
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache


class VoiceCheck:
    """What each chunk begins with, against the voice."""

    def __init__(self) -> None:
        self._short, self._long, self._other = Sightings(), Sightings(), Sightings()
        self._first: dict[int, int] = {}  # snapshot of the first chunk, by cache
        self._chunk = -1
        self._copies: bool | None = None

    def look(self, view: FrameView) -> None:
        for cache, spoken in changed_slots(view, "flow_lm", "spoken"):
            self._long.add(cache, view.frame, spoken)
        slots = view.recording.facts.voice.get("slots")
        if view.frame.phase == "decode" or not isinstance(slots, int):
            return
        if self._copies is None:
            self._copies = view.recording.spec.copy_state
        if view.chunk.id and not self._copies:
            return  # then it is meant to go on after what was said
        offsets = view.recording.base_offsets(view.chunk.id)
        for cache in view.recording.caches:
            offset = offsets.get(cache.id)
            if cache.model == "flow_lm" and offset is not None:
                self._look_at(view, cache, slots, offset)
        if view.chunk.id != self._chunk:
            self._chunk = view.chunk.id
            self._compare(view, slots)

    def findings(self, recording: Recording) -> list[Finding]:
        return [
            *self._short.findings(_cut_short),
            *self._long.findings(_spoken_with),
            *self._other.findings(_another),
        ]

    def _look_at(self, view: FrameView, cache: Cache, slots: int, offset: int) -> None:
        if offset < slots and view.frame.phase == "text":
            self._short.add(cache, view.frame, (offset, slots))
        begins = view.frame.phase == "voice" or view.chunk.id > 0
        if offset > slots and begins and _holds_speech(view, cache, slots, offset):
            self._long.add(cache, view.frame, (slots, offset))

    def _compare(self, view: FrameView, slots: int) -> None:
        """Whether the voice is still what the first chunk began with."""
        offsets = view.recording.base_offsets(view.chunk.id)
        changed = {cache.id for cache, _ in changed_slots(view, "flow_lm")}  # its own finding
        for number, snapshot in view.recording.evidence.snapshots(view.chunk.id).items():
            known = self._first.setdefault(number, snapshot)
            inside = 0 <= number < len(view.recording.caches)  # the file may claim anything
            if known != snapshot and inside and number not in changed:
                if offsets.get(number) == slots:
                    self._other.add(view.recording.caches[number], view.frame, (0, slots))


def _holds_speech(view: FrameView, cache: Cache, first: int, last: int) -> bool:
    """Whether the slots after the voice hold numbers; those that hold none are a hole."""
    if view.chunk.continues is not None:
        return True
    base = view.recording.values_before_expansion(cache, view.chunk.id)
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
        f"{layers_words([seen.cache for seen in group])}: the voice takes {length} slots, but "
        f"{frame_words(first.frame)} begins at offset {begin}: {slots} hold earlier speech, and "
        "every frame attends to it. Was the state used with copy_state=False, or copied only in "
        "part? Use a fresh copy of the voice for each text."
    )
    return finding_of("stale-read", group, message, chain=(_link(first, "hold earlier speech"),))


def _another(group: list[Sighting]) -> Finding:
    first = group[0]
    message = (
        f"{layers_words([seen.cache for seen in group])}: chunk {first.frame.chunk} begins with "
        f"other K and V in {slots_words(first.slots)} than the first chunk did: somebody changed "
        "the voice state in between, so the voice is no longer the same. Look for code that keeps "
        "a reference to the state: a cached voice, another thread, a copy that shares its tensors."
    )
    link = _link(first, "of the voice are not what the first chunk began with")
    return finding_of("overwrite", group, message, chain=(link,))


def _link(seen: Sighting, what: str) -> Link:
    words = f"{slots_words(seen.slots)} {what}"
    return Link(words, frame=seen.frame.id, cache=seen.cache.id, slot=seen.slots[0])
