"""A cache before and after `_expand_kv_cache` gave it more slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.cache_moment import FILL_WORDS
from kvstudio.app.codes import encode
from kvstudio.app.layer.picture import Shown
from kvstudio.app.layer.values import as_columns
from kvstudio.app.words import counted

if TYPE_CHECKING:
    from kvstudio.app.codes import CodeArray
    from kvstudio.app.layer.picture_codes import ValueRange
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Cache, Expansion, Floats

NAMES = ("K before", "K after", "V before", "V after")


@dataclass(frozen=True, eq=False)
class ExpansionView:
    """What one cache held on both sides of an expansion.

    Attributes:
        values: `[2, capacity before, B * H * D]`; absent if the recording does not have them.
        used: slots in use before.
        width: columns, B * H * D.
    """

    expansion: Expansion
    values: Floats | None
    used: int
    width: int

    def shown(self, value_range: ValueRange) -> list[Shown]:
        """The pictures, in the order of `NAMES`; new slots are those that nobody wrote."""
        before, after = self.expansion.capacity_before, self.expansion.capacity_after
        fill = FILL_WORDS.get(self.expansion.fill, self.expansion.fill)
        notes = (counted(before, "slot"), counted(after, "slot"))
        return [
            Shown(NAMES[2 * part + side], notes[side], self._codes(part, slots, value_range), fill)
            for part in (0, 1)
            for side, slots in enumerate((before, after))
        ]

    def value(self, picture: int, slot: int, column: int) -> float:
        """A number of one of the pictures; NaN where the slot is new."""
        if self.values is None or slot >= self.values.shape[1]:
            return float(np.nan)
        return float(self.values[picture // 2, slot, column])

    def words(self) -> str:
        """Such as `19 slots before, 210 after; the 191 new ones are NaN; ... bit for bit`."""
        row = self.expansion
        new = row.capacity_after - row.capacity_before
        return (
            f"{counted(row.capacity_before, 'slot')} before, {row.capacity_after:,} after; "
            f"the {new:,} new ones {_fill_words(row)}; "
            f"the {row.capacity_before:,} old ones {_change_words(row)}"
        )

    @property
    def is_sound(self) -> bool:
        """Whether it did what it should: new slots NaN, old ones unchanged."""
        return self.expansion.changed_slot is None and self.expansion.not_nan_slot is None

    def state_words(self, picture: int, slot: int) -> str:
        """What a slot of a picture is."""
        if slot >= self.expansion.capacity_before:
            return f"new, never written ({FILL_WORDS.get(self.expansion.fill, 'other')})"
        if slot >= self.used:
            return "not in use"
        if picture % 2 and self.expansion.changed_slot is not None:
            return "as it was before; what it changed to is not recorded"
        return "unchanged by the expansion" if picture % 2 else "as it was before the expansion"

    # ---- private ------------------------------------------------------------------------------

    def _codes(self, part: int, slots: int, value_range: ValueRange) -> CodeArray:
        values = np.full((slots, self.width), np.nan, np.float32)
        written = np.zeros(slots, np.bool_)
        if self.values is not None:
            old = min(slots, self.values.shape[1])
            values[:old] = self.values[part, :old]
            written[: min(old, self.used)] = True
        return encode(values, written, *value_range)


def expansion_view(recording: Recording, cache: Cache, frame: int) -> ExpansionView | None:
    """What the frame's chunk did to a cache before its first op; absent if that was nothing."""
    chunk = recording.chunks[recording.frames[frame].chunk]
    rows = [each for each in recording.expansions(chunk.id) if each.cache == cache.id]
    if not rows or rows[0].capacity_after <= rows[0].capacity_before:
        return None
    values = recording.values_before_expansion(cache, chunk.id)
    if values is None and chunk.continues is not None:
        last = max((f.id for f in recording.frames if f.chunk == chunk.continues), default=None)
        values = None if last is None else recording.values(cache, last)
    held = None if values is None else as_columns(values)
    width = cache.batch * cache.heads * cache.dim
    return ExpansionView(rows[0], held, chunk.current_end, width)


def _fill_words(row: Expansion) -> str:
    if row.not_nan_slot is not None:
        return f"are not all NaN: slot {row.not_nan_slot} holds {_filled_with(row.fill)}"
    return "are NaN" if row.fill == "nan" else f"hold {_filled_with(row.fill)}"


def _filled_with(fill: str) -> str:
    return "zeros" if fill == "zero" else "other values"


def _change_words(row: Expansion) -> str:
    if row.changed_slot is None:
        return "unchanged, bit for bit"
    return f"changed, first in slot {row.changed_slot}"
