"""capacity-exceeded and dropped-write: more slots were to be written than there are.

A prefill of several tokens past the capacity raises. One frame past it vanishes: the slice it is
copied to has no slots, so nothing is written, nothing is said, and the offset moves on.
"""

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
    sum_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.ledger import frames_of
from kvstudio.analysis.misused import first_run, misused
from kvstudio.analysis.steps import Step
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Op


class CapacityCheck:
    """One finding for each group of layers that lost, or could not take, the same slots."""

    def __init__(self) -> None:
        self._dropped, self._exceeded = Sightings(), Sightings()
        self._ops: dict[int, int] = {}  # the first op that dropped, by cache id

    def look(self, view: FrameView) -> None:
        past_the_end = self._look_at_offsets(view)
        for cache, rows in misused(view, "dropped-write"):
            self._ops.setdefault(cache.id, rows[0].op)
            if cache.id not in past_the_end:
                self._dropped.add(cache, view.frame, first_run(rows))

    def findings(self, recording: Recording) -> list[Finding]:
        return [
            *self._exceeded.findings(lambda group: _exceeded(recording, group)),
            *self._dropped.findings(lambda group: self._build_dropped(recording, group)),
        ]

    def _look_at_offsets(self, view: FrameView) -> set[int]:
        """Ids of the caches whose offset went past their capacity."""
        past_the_end = set()
        for step in view.steps:
            if step.frame.problem is not None:
                end = step.before + step.should_write
                if end > step.capacity:
                    self._exceeded.add(step.cache, step.frame, (step.before, end))
            elif step.offset > step.capacity and not _goes_round(view, step):
                lost = (max(step.before, step.capacity), step.offset)
                self._dropped.add(step.cache, step.frame, lost)
                past_the_end.add(step.cache.id)
        return past_the_end

    def _build_dropped(self, recording: Recording, group: list[Sighting]) -> Finding:
        first = group[0]
        capacity = recording.cache_states(first.frame.id)[first.cache.id].capacity
        number = self._ops.get(first.cache.id)
        op = _last_writer(recording, first) if number is None else recording.ops.get(number)
        inside = first.slots[0] < capacity
        why = (
            "the slice that it was copied to has no slots"
            if inside
            else f"the cache has {capacity} slots"
        )
        look = (
            "Look at the slice that the cache is written to."
            if inside
            else "Look at the length ledger: is the capacity what the sum asks for?"
        )
        message = (
            f"{layers_words([seen.cache for seen in group])}: {frame_words(first.frame)} was to "
            f"write {slots_words(first.slots)}, but {why}, so its K and V were dropped without an "
            f"error. From here on the model does not remember what it said. {look}"
        )
        chain = _chain(recording, first, capacity)
        if number is not None and op is not None:
            chain.append(op_link(op, "writes to a slice without slots"))
        return finding_of("dropped-write", group, message, chain=chain, op=op)


def _goes_round(view: FrameView, step: Step) -> bool:
    """Whether a cache that looks back only so far is a ring, which is written and never full."""
    if step.cache.context is None:
        return False
    rows = [row for row in view.attentions if row.cache == step.cache.id]
    return any(row.slot == row.position and row.keys <= step.capacity for row in rows)


def _exceeded(recording: Recording, group: list[Sighting]) -> Finding:
    first = group[0]
    capacity = recording.cache_states(first.frame.id)[first.cache.id].capacity
    message = (
        f"{layers_words([seen.cache for seen in group])}: {frame_words(first.frame)} needed "
        f"{slots_words(first.slots)}, but the cache has {capacity} slots, and the model raised: "
        f"{first.frame.problem}. Nothing is generated from here on. "
        "Look at the length ledger: is the capacity what the sum asks for?"
    )
    chain = _chain(recording, first, capacity)
    return finding_of("capacity-exceeded", group, message, chain=chain)


def _chain(recording: Recording, seen: Sighting, capacity: int) -> list[Link]:
    frame, cache = seen.frame.id, seen.cache.id
    chunk = recording.chunks[seen.frame.chunk]
    # What the sum is reckoned for comes first in a chunk, long before a slot is missing.
    sized = next((f.id for f in frames_of(recording, chunk) if f.phase != "voice"), frame)
    wrote = f"{frame_words(seen.frame)} writes {slots_words(seen.slots)}"
    return [
        Link(sum_words(chunk), frame=sized),
        Link(f"capacity {capacity}", frame=frame, cache=cache, slot=capacity - 1),
        Link(wrote, frame=frame, cache=cache, slot=seen.slots[0]),
    ]


def _last_writer(recording: Recording, seen: Sighting) -> Op | None:
    """The op that wrote the last slot that was not lost: the next one of its kind was."""
    touching = recording.ops.touching(seen.cache.id, seen.slots[0] - 1, seen.frame.id)
    writes = [op for op, touch in touching if touch.write]
    return recording.ops.get(writes[-1]) if writes else None
