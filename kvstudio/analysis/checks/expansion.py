"""expansion-corrupt: `_expand_kv_cache` did not do what it is there for."""

from collections.abc import Sequence
from itertools import groupby

from kvstudio.analysis.finding import Finding, Link, layer_of, layers_words, sum_words
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.integrity import IntegrityRow, chunk_integrity, failures
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

CONSEQUENCES = {
    "shape grew": "Frames past the end will be lost",
    "new slots NaN": "A read of an unwritten slot can no longer be told from a real one",
    "old values kept": "The model attends to a history that is not the one it wrote",
}


class ExpansionCheck:
    """One finding per chunk and kind of failure, whatever the number of layers."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def look(self, view: FrameView) -> None:
        if view.frame.phase != "text":  # it begins by the expansion
            return
        recording = view.recording
        rows = failures(chunk_integrity(recording, view.chunk))
        rows = [row for row in rows if not (_is_old_nan(recording, row) or _grows(view, row))]
        rows.sort(key=lambda row: (row.check, row.words, row.failed_slot or 0, row.cache))
        for _, group in groupby(rows, lambda row: (row.check, row.words)):
            self._found.append(_finding(recording, view.frame, list(group)))

    def findings(self, recording: Recording) -> list[Finding]:
        return list(self._found)


def _is_old_nan(recording: Recording, row: IntegrityRow) -> bool:
    """NaN that was there before the expansion is not the expansion's doing."""
    slot = -1 if row.failed_slot is None else row.failed_slot
    before = [each.capacity_before for each in recording.expansions(row.chunk)]
    return row.check == "new slots NaN" and slot < min(before, default=0)


def _grows(view: FrameView, row: IntegrityRow) -> bool:
    """Whether a cache that was left too small was made larger by the step that needed it."""
    state = view.states.get(row.cache)
    return (
        row.check == "shape grew"
        and state is not None
        and state.capacity > (row.failed_slot or 0)
        and state.capacity >= (state.offset or 0)
    )


def _finding(recording: Recording, frame: Frame, rows: Sequence[IntegrityRow]) -> Finding:
    first = rows[0]
    chunk, cache = recording.chunks[first.chunk], recording.caches[first.cache]
    caches = [recording.caches[row.cache] for row in rows]
    slot = first.failed_slot or 0
    message = (
        f"{layers_words(caches)}: the expansion of the cache for chunk {chunk.id} is corrupt: "
        f"{first.check} failed at slot {slot} ({first.words}). {CONSEQUENCES[first.check]}. "
        "Look at _expand_kv_cache, and at the layer view before and after the expansion."
    )
    here = {"frame": frame.id, "cache": cache.id}
    chain = (
        Link(sum_words(chunk), frame=frame.id),
        Link(f"_expand_kv_cache was asked for {chunk.required_len} slots", frame=frame.id),
        Link(f"capacity went from {chunk.capacity_before} to {chunk.capacity_after}", **here),
        Link(f"{first.check}: {first.words}", slot=slot, **here),
    )
    return Finding(
        kind="expansion-corrupt",
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        layer=layer_of(cache),
        slots=(slot, slot + 1),
        chain=chain,
        count=len(rows),
        cache=cache.id,
        caches=tuple(row.cache for row in rows),
    )
