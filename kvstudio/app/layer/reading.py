"""One layer at one moment, read for the pictures: what to show, what a cell holds, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.cache_moment import CacheMoment, cache_moments
from kvstudio.app.layer.expansion_view import NAMES, ExpansionView, expansion_view
from kvstudio.app.layer.geometry import Cell, Columns
from kvstudio.app.layer.picture import Shown
from kvstudio.app.layer.picture_codes import LayerCodes, ValueRange
from kvstudio.app.layer.readout import cell_words, layer_lines, number_words, place_words
from kvstudio.app.layer.values import LayerValues

if TYPE_CHECKING:
    from kvstudio.app.codes import BoolArray
    from kvstudio.app.painting.strips import SlotRoles
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Cache, Floats

PLAIN_NAMES = ("K", "V")
KINDS = ("keys", "values")


class LayerReading:
    """A cache at a frame, or what an expansion did to it.

    Attributes:
        moment: the cache at the frame.
        values: all that was read of it so far.
        expansion: what the frame's chunk did to it before its first op, if anything.
        shows_expansion: whether that is what the pictures show.
    """

    def __init__(self, recording: Recording, cache: Cache) -> None:
        self.recording, self.cache = recording, cache
        self.columns = Columns.of(cache)
        self.values = LayerValues(recording, cache)
        self.expansion: ExpansionView | None = None
        self.shows_expansion = False
        self.moment: CacheMoment
        self._codes = LayerCodes()
        self._stale: list[int] = []
        self._frame = self._chunk = -1

    def move(self, frame: int) -> None:
        """Reads the cache as it was after a frame."""
        self._frame = frame
        self.moment = cache_moments(self.recording, frame, [self.cache])[0]
        self._stale += self.values.show(self.moment.slots, self.moment.frame).tolist()
        chunk = self.recording.frames[frame].chunk
        if chunk != self._chunk:
            self._chunk = chunk
            self.expansion = expansion_view(self.recording, self.cache, frame)
        self.shows_expansion &= self.expansion is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the pictures."""
        return NAMES if self.shows_expansion else PLAIN_NAMES

    @property
    def sample(self) -> Floats:
        """Some of the finite values on screen."""
        if self._shown_expansion is None or self._shown_expansion.values is None:
            return self.values.sample()
        held = self._shown_expansion.values[:, : self._shown_expansion.used]
        finite: Floats = held[np.isfinite(held)]
        return finite

    def shown(self, value_range: ValueRange) -> list[Shown]:
        """The pictures in the order of `names`."""
        if self._shown_expansion is not None:
            return self._shown_expansion.shown(value_range)
        self._codes.show(self.values, np.array(self._stale, np.intp), value_range)
        self._stale.clear()
        return [
            Shown(name, kind, codes, self.moment.fill)
            for name, kind, codes in zip(PLAIN_NAMES, KINDS, self._codes.codes, strict=True)
        ]

    def slots(self) -> tuple[SlotRoles, BoolArray, int]:
        """Roles, which slots the frame wrote, and the offset, for the ruler of slots."""
        roles = self.moment.roles
        if self._shown_expansion is None:
            return roles, self.moment.slots.frames == self._frame, self.moment.offset
        used, capacity = self._shown_expansion.used, self._shown_expansion.expansion.capacity_after
        before = np.zeros(capacity, np.uint8)
        old = min(used, len(roles), capacity)
        before[:old] = roles[:old]
        return before, np.zeros(capacity, np.bool_), used

    def lines(self) -> tuple[str, ...]:
        """What is on screen, from the fullest words to the shortest."""
        if self._shown_expansion is not None:
            return (self._shown_expansion.words(),)
        frames = self.recording.frames
        return layer_lines(self.moment, self.values.facts(), frames[self._frame], frames)

    @property
    def is_sound(self) -> bool:
        """Whether nothing on screen is NaN or Inf, or was spoilt by the expansion."""
        if self._shown_expansion is not None:
            return self._shown_expansion.is_sound
        facts = self.values.facts()
        return not facts.nan_slots and not facts.inf_slots

    def has(self, cell: Cell) -> bool:
        """Whether there is such a cell in the pictures."""
        if cell.picture >= len(self.names) or cell.column >= len(self.columns):
            return False
        view, is_before = self._shown_expansion, cell.picture % 2 == 0
        if view is None:
            return cell.slot < self.moment.slots.capacity
        row = view.expansion
        return cell.slot < (row.capacity_before if is_before else row.capacity_after)

    def cell_words(self, cell: Cell) -> str:
        """The value of a cell, exact, and the state of its slot."""
        view = self._shown_expansion
        place = place_words(self.names[cell.picture], cell.slot, self.columns, cell.column)
        if view is None:
            value = self.values.values[cell.picture, cell.slot, cell.column]
            frames = self.recording.frames
            return cell_words(place, value, self.moment, cell.slot, frames)
        state = view.state_words(cell.picture, cell.slot)
        if cell.slot >= view.used:
            return f"{place} · {state}"
        return f"{place} = {number_words(view.value(*cell))} · {state}"

    # ---- private ------------------------------------------------------------------------------

    @property
    def _shown_expansion(self) -> ExpansionView | None:
        return self.expansion if self.shows_expansion else None
