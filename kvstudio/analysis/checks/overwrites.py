"""overwrite: slots of this run's history that were written again, by an op or by an outsider."""

import numpy as np

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
from kvstudio.analysis.misused import Misused, kv_of, misused, what_words
from kvstudio.analysis.surprises import changed_slots, stepped_by_others
from kvstudio.recording.evidence import Misuse
from kvstudio.recording.reader import Recording


class OverwriteCheck:
    """History that an op of the model wrote over, or that changed between two steps."""

    def __init__(self) -> None:
        self._by_op, self._by_outsider = Misused(), Sightings()

    def look(self, view: FrameView) -> None:
        for cache, rows in misused(view, "overwrite"):
            self._by_op.add(cache, view.frame, rows)
        stepped = {cache.id for cache, _ in stepped_by_others(view, "flow_lm")}
        for cache, slots in changed_slots(view, "flow_lm"):
            if cache.id not in stepped:
                self._by_outsider.add(cache, view.frame, slots)

    def findings(self, recording: Recording) -> list[Finding]:
        return [
            *self._by_op.findings(lambda group, rows: _by_op(recording, group, rows)),
            *self._by_outsider.findings(lambda group: _by_outsider(recording, group)),
        ]


def _by_op(recording: Recording, group: list[Sighting], rows: list[Misuse]) -> Finding:
    first = group[0]
    op = recording.ops.get(rows[0].op)
    slots = slots_words(first.slots)
    held = _writer_words(recording, rows)
    message = (
        f"{layers_words([seen.cache for seen in group])}: {frame_words(first.frame)} wrote {slots} "
        f"of {what_words(first.cache, rows)}, which held {held}. That passage is gone from the "
        f"model's memory. {op.name} at {op.site[0]}:{op.site[1]} wrote. Look at the offset that "
        "the frame found: it should be past every slot in use."
    )
    chain = (
        Link(
            f"{slots} held {held}",
            frame=first.frame.id,
            cache=first.cache.id,
            slot=first.slots[0],
        ),
        op_link(op, f"writes {slots}"),
    )
    return finding_of("overwrite", group, message, chain=chain, kv=kv_of(rows), op=op)


def _writer_words(recording: Recording, rows: list[Misuse]) -> str:
    writer = next((row.writer for row in rows if row.writer is not None), None)
    if writer is None or not 0 <= writer < len(recording.frames):
        return "what was there before the run"
    return f"what {frame_words(recording.frames[writer])} had written"


def _by_outsider(recording: Recording, group: list[Sighting]) -> Finding:
    first = group[0]
    slots, frame = slots_words(first.slots), first.frame
    message = (
        f"{layers_words([seen.cache for seen in group])}: {slots} changed before "
        f"{frame_words(frame)} began, by no op of the model: somebody outside it wrote to its "
        f"cache{_now_words(recording, first)}. Every frame from here on attends to that. Look for "
        "code that keeps a reference to the state: a cached voice, another thread, an edit."
    )
    link = Link(
        f"{slots} changed since they were written, by no op of the model",
        frame=frame.id,
        cache=first.cache.id,
        slot=first.slots[0],
    )
    return finding_of("overwrite", group, message, chain=(link,))


def _now_words(recording: Recording, seen: Sighting) -> str:
    """What the slots hold now, if that is telling."""
    first, last = seen.slots
    now = recording.values(seen.cache, seen.frame.id)[:, :, first:last]
    if now.size and not now.any():
        return " (zeros)"
    return " (NaN)" if np.isnan(now).any() else ""
