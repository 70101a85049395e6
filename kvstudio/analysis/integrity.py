"""The three checks of a cache expansion, per chunk and layer.

1. The shape grew from the old capacity to the new one.
2. The new slots, and only the new slots, are NaN.
3. The old values are unchanged, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kvstudio.analysis.ledger import frames_of
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, Chunk, Expansion, Floats

Check = Literal["shape grew", "new slots NaN", "old values kept"]
CHECKS: tuple[Check, ...] = ("shape grew", "new slots NaN", "old values kept")
FILL_WORDS = {"zero": "new slots are filled with zeros", "other": "new slots hold numbers"}


@dataclass(frozen=True)
class IntegrityRow:
    """One check of one layer's cache at the beginning of one chunk.

    Attributes:
        failed_slot: the first slot that broke the rule; None if it passed.
        words: what was found, such as `19 to 210` or `slot 7 changed`.
    """

    chunk: int
    cache: int
    check: Check
    passed: bool
    failed_slot: int | None
    words: str


def integrity(recording: Recording) -> list[IntegrityRow]:
    """Every check of every expansion so far, by chunk, then by cache, then by check."""
    return [row for chunk in recording.chunks for row in chunk_integrity(recording, chunk)]


def chunk_integrity(recording: Recording, chunk: Chunk) -> list[IntegrityRow]:
    """The checks of one chunk; empty until its caches have been sized."""
    rows: list[IntegrityRow] = []
    for each in recording.expansions(chunk.id):
        if 0 <= each.cache < len(recording.caches):  # the file may claim anything
            cache = recording.caches[each.cache]
            rows += (_shape(chunk, each), _nan(recording, chunk, cache, each), _kept(each))
    return rows


def failures(rows: Sequence[IntegrityRow]) -> list[IntegrityRow]:
    return [row for row in rows if not row.passed]


def _shape(chunk: Chunk, seen: Expansion) -> IntegrityRow:
    before, after = seen.capacity_before, seen.capacity_after
    if after < chunk.required_len:
        words = f"{before} to {after}, but {chunk.required_len} were required"
        return _row(seen, "shape grew", after, words)
    if after < before:
        return _row(seen, "shape grew", after, f"shrank from {before} to {after}")
    if after == before:
        return _row(seen, "shape grew", None, f"no growth needed, {before} are enough")
    return _row(seen, "shape grew", None, f"{before} to {after}")


def _nan(recording: Recording, chunk: Chunk, cache: Cache, seen: Expansion) -> IntegrityRow:
    new = seen.capacity_after - seen.capacity_before
    if seen.not_nan_slot is not None:
        why = FILL_WORDS.get(seen.fill, "it should be")
        return _row(seen, "new slots NaN", seen.not_nan_slot, f"slot is not NaN: {why}")
    old = _old_values(recording, chunk, cache)
    if old is not None:
        nan = np.flatnonzero(np.isnan(old).any(axis=(0, 1, 3, 4)))
        if len(nan):
            words = f"old slot holds NaN, one of {len(nan)}"
            return _row(seen, "new slots NaN", int(nan[0]), words)
    words = f"{new} new, all NaN" if new > 0 else "no new slots"
    unseen = "" if old is not None else "; old ones not recorded"
    return _row(seen, "new slots NaN", None, words + unseen)


def _old_values(recording: Recording, chunk: Chunk, cache: Cache) -> Floats | None:
    """`[2, B, current_end, H, D]` in use when the chunk began, or None if not recorded."""
    base = recording.values_before_expansion(cache, chunk.id)
    if base is None and chunk.continues is not None and recording.spec.trace != "off":
        before = frames_of(recording, recording.chunks[chunk.continues])
        base = recording.values(cache, before[-1].id) if before else None
    return None if base is None else base[:, :, : chunk.current_end]


def _kept(seen: Expansion) -> IntegrityRow:
    if seen.changed_slot is not None:
        return _row(seen, "old values kept", seen.changed_slot, "slot changed")
    return _row(seen, "old values kept", None, f"{seen.capacity_before} bit for bit")


def _row(seen: Expansion, check: Check, failed_slot: int | None, words: str) -> IntegrityRow:
    passed = failed_slot is None
    return IntegrityRow(seen.chunk, seen.cache, check, passed, failed_slot, words)
