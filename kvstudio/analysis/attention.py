"""What one attention op looked at, held against where its queries belong.

A written position has three numbers: the slot it is written to, the position that the rotary
embedding is given, and the position that the mask works with. In a healthy run all are the offset.
"""

from kvstudio.recording.evidence import Attention
from kvstudio.recording.rows import Cache


def mask_position(row: Attention, cache: Cache) -> int | None:
    """The position that the mask took the first query for; None if the mask tells none.

    Told by the last query: its newest slot, if it attends to all that a query there should.
    """
    if row.newest is None or row.oldest is None:
        return None
    oldest = 0 if cache.context is None else max(0, row.newest - cache.context + 1)
    plain = row.oldest == oldest and row.attended == row.newest - row.oldest + 1
    return row.newest - row.queries + 1 if plain else None


def is_shifted(row: Attention, cache: Cache) -> bool:
    """Whether the mask hides the newest keys though they were handed to it."""
    position = mask_position(row, cache)
    if position is None or position >= row.position or row.missing == 0:
        return False
    return row.keys >= row.position + row.queries


def expected_window(row: Attention, cache: Cache) -> tuple[int, int]:
    """The slots `[lo, hi)` that the last query should attend to."""
    last = row.position + row.queries
    return (0 if cache.context is None else max(0, last - cache.context)), last


def hidden_by_pad(row: Attention, cache: Cache) -> int:
    """How many of the oldest slots the state's `pad` hides, though there is but one row.

    Rows of unequal length in one batch are padded; the engine takes that for intended.
    """
    padded = cache.batch == 1 and cache.context is None and not row.missing
    return row.oldest or 0 if padded else 0
