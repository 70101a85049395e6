"""expansion-corrupt: `_expand_kv_cache` did not do what it is there for."""

from collections.abc import Sequence
from itertools import groupby

from kvstudio.analysis.finding import Finding, layer_of, layers_words, sum_words
from kvstudio.analysis.integrity import IntegrityRow, failures, integrity
from kvstudio.recording.reader import Recording

CONSEQUENCES = {
    "shape grew": "Frames past the end will be lost",
    "new slots NaN": "A read of an unwritten slot can no longer be told from a real one",
    "old values kept": "The model attends to a history that is not the one it wrote",
}


def check_expansion(recording: Recording) -> list[Finding]:
    """One finding per chunk and kind of failure, whatever the number of layers."""
    rows = [row for row in failures(integrity(recording)) if not _is_old_nan(recording, row)]
    rows.sort(key=lambda row: (row.chunk, row.check, row.words, row.failed_slot or 0, row.cache))
    return [
        _finding(recording, list(group))
        for _, group in groupby(rows, lambda row: (row.chunk, row.check, row.words))
    ]


def _is_old_nan(recording: Recording, row: IntegrityRow) -> bool:
    """NaN that was there before the expansion is not the expansion's doing."""
    slot = -1 if row.failed_slot is None else row.failed_slot
    before = [each.capacity_before for each in recording.expansions(row.chunk)]
    return row.check == "new slots NaN" and slot < min(before, default=0)


def _finding(recording: Recording, rows: Sequence[IntegrityRow]) -> Finding:
    first = rows[0]
    chunk, cache = recording.chunks[first.chunk], recording.caches[first.cache]
    caches = [recording.caches[row.cache] for row in rows]
    slot = first.failed_slot or 0
    frame = next(
        (each for each in recording.frames if (each.chunk, each.phase) == (chunk.id, "text")), None
    )
    message = (
        f"{layers_words(caches)}: the expansion of the cache for chunk {chunk.id} is corrupt: "
        f"{first.check} failed at slot {slot} ({first.words}). {CONSEQUENCES[first.check]}. "
        "Look at _expand_kv_cache, and at the layer view before and after the expansion."
    )
    chain = (
        sum_words(chunk),
        f"_expand_kv_cache was asked for {chunk.required_len} slots",
        f"capacity went from {chunk.capacity_before} to {chunk.capacity_after}",
        f"{first.check}: {first.words}",
    )
    return Finding(
        kind="expansion-corrupt",
        severity="error",
        message=message,
        frame=None if frame is None else frame.id,
        phase=None if frame is None else frame.phase,
        layer=layer_of(cache),
        slots=(slot, slot + 1),
        chain=chain,
        count=len(rows),
    )
