"""position-mismatch, dtype-mismatch and foreign-state: K and V that no step of the layer makes.

The engine holds what a step wrote against the layer's own weights (`engine/projections.py`): K and
V of a slot come from one input by one projection, K turned to the slot's position.
"""

from functools import partial
from typing import NamedTuple

from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    finding_of,
    frame_words,
    layers_words,
    op_link,
    slots_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.surprises import changed_slots
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, Op


class Look(NamedTuple):
    """What such slots look like: the kind of the finding, what is wrong, and what to look at."""

    kind: str
    wrong: str
    next: str


LOOKS = {
    "swapped": Look(
        "position-mismatch",
        "keys lie where values belong and values where keys belong",
        "Attention compares with values and adds up keys. Look at the order of K and V where the "
        "cache is written.",
    ),
    "rotated": Look(
        "position-mismatch",
        "the keys are turned to another position than their slot",
        "Attention sees the past at wrong distances. Look at the offset that the rotary embedding "
        "is given, and at the slot that is written.",
    ),
    "rounded": Look(
        "dtype-mismatch",
        "the numbers are rounded to a few values, coarser than the layer computes",
        "Every later frame attends to what is left of them. Look at the type or the scale in which "
        "K and V are stored.",
    ),
    "foreign": Look(
        "foreign-state",
        "the layer's own weights cannot have made these K and V",
        "Later frames attend to something that was never said. Look at what else writes to the "
        "cache, and at what happens to K and V between projection and cache.",
    ),
}


class StrangersCheck:
    """One finding for each group of layers that first show the same in the same frame."""

    def __init__(self) -> None:
        self._seen = {what: Sightings() for what in LOOKS}

    def look(self, view: FrameView) -> None:
        caches = {cache.name: cache for cache in view.recording.caches if cache.model == "flow_lm"}
        told = _told_by_numbers(view)
        outside = {cache.id: slots for cache, slots in changed_slots(view, "flow_lm")}
        for each in view.surprises:
            cache = caches.get(each.entry)
            if each.found not in LOOKS or each.model != "flow_lm" or cache is None:
                continue
            if each.first is None or each.last is None:
                continue
            if each.found == "rotated" and cache.id in told:
                continue  # the three numbers of a position say it better
            first, last = outside.get(cache.id, (0, 0))
            if first <= each.first < last:
                continue  # no step of the model wrote it: that is an overwrite
            self._seen[each.found].add(cache, view.frame, (each.first, each.last))

    def findings(self, recording: Recording) -> list[Finding]:
        found: list[Finding] = []
        for what, seen in self._seen.items():
            found += seen.findings(partial(_finding, recording, LOOKS[what]))
        return found


def _told_by_numbers(view: FrameView) -> set[int]:
    """Caches whose slot or rotary position of this step is not the offset: see `positions.py`."""
    return {
        row.cache
        for row in view.attentions
        if row.slot not in (None, row.position) or row.rope not in (None, row.position)
    }


def _finding(recording: Recording, look: Look, group: list[Sighting]) -> Finding:
    first = group[0]
    layers, slots = layers_words([seen.cache for seen in group]), slots_words(first.slots)
    message = f"{layers}: {frame_words(first.frame)} wrote {slots}, but {look.wrong}. {look.next}"
    origin = Link(
        f"{slots}: {look.wrong}",
        frame=first.frame.id,
        cache=first.cache.id,
        slot=first.slots[0],
    )
    op = _writer(recording, first.cache, first.slots[0], first.frame.id)
    chain = (origin,) if op is None else (origin, op_link(op, f"writes {slots}"))
    return finding_of(look.kind, group, message, chain=chain, op=op)


def _writer(recording: Recording, cache: Cache, slot: int, frame: int) -> Op | None:
    """The op of that frame that wrote the slot last."""
    touching = recording.ops.touching(cache.id, slot, frame)
    writes = [op for op, touch in touching if touch.write]
    op = recording.ops.get(writes[-1]) if writes else None
    return op if op is not None and op.frame == frame else None
