"""What a map of slots shows: strips in groups, what each slot is, and marks upon them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING

from kvstudio.recording.roles import SlotRole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    SlotRoles = NDArray[np.uint8]
    Slots = NDArray[np.intp] | NDArray[np.bool_]


class PaintedRole(IntEnum):
    """The roles of the recording under their own numbers, and what only a painter tells apart."""

    UNWRITTEN = SlotRole.UNWRITTEN
    VOICE = SlotRole.VOICE
    TEXT = SlotRole.TEXT
    GENERATED = SlotRole.GENERATED
    STALE = SlotRole.STALE
    DROPPED = SlotRole.DROPPED
    NAN = 6
    INF = 7
    EDITED = 8
    HOLE = 9  # unwritten below the offset
    NOTHING = 10  # past the last slot of a strip

    @property
    def word(self) -> str:
        return {"NAN": "NaN", "INF": "Inf"}.get(self.name, self.name.lower())


def painted_roles(
    roles: SlotRoles,
    offset: int,
    *,
    nan: Slots | None = None,
    inf: Slots | None = None,
    edited: Slots | None = None,
) -> SlotRoles:
    """Single out what must not be overlooked: holes, edited slots, and computed NaN and Inf.

    Args:
        roles: uint8 `[T]`, `SlotRole` numbers; not changed.
        offset: slots filled; an unwritten slot below it is a hole.
        nan: which written slots hold NaN, as positions or as flags `[T]`.
        inf: the same for Inf.
        edited: the same for slots changed by hand.
    """
    painted: SlotRoles = roles.copy()
    below = painted[:offset]
    below[below == PaintedRole.UNWRITTEN] = PaintedRole.HOLE
    for slots, role in (
        (edited, PaintedRole.EDITED),
        (inf, PaintedRole.INF),
        (nan, PaintedRole.NAN),
    ):
        if slots is not None:
            painted[slots] = role
    return painted


@dataclass(frozen=True, eq=False)
class Strip:
    """The slots of one layer.

    Attributes:
        name: short, for the margin.
        roles: uint8 `[T]`, `PaintedRole` numbers; longer than the capacity if writes past it
            were dropped.
        offset: slots filled = where the next write goes.
        capacity: slots allocated.
        fill: what an unwritten slot holds, in a word.
    """

    name: str
    roles: SlotRoles
    offset: int
    capacity: int
    fill: str = "NaN"


@dataclass(frozen=True, eq=False)
class StripGroup:
    """Strips on a common slot axis.

    Attributes:
        name: title above the axis.
        strips: from top to bottom.
        axis_slots: slots the axis has room for, at least; give the largest capacity of a whole
            recording and strips grow at each expansion instead of changing scale.
        words: what follows the name, from the fullest form to the shortest; if there are any,
            offset and capacity are numbers of the axis instead of words above it.
    """

    name: str
    strips: tuple[Strip, ...]
    axis_slots: int = 0
    words: tuple[str, ...] = ()

    @property
    def slots(self) -> int:
        longest = (max(len(strip.roles), strip.capacity) for strip in self.strips)
        return max(1, self.axis_slots, *longest) if self.strips else max(1, self.axis_slots)


class MarkKind(Enum):
    """Each kind has its own glyph, colour and edge of the strip."""

    FRESH = "fresh"  # written in the frame that is shown
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    FINDING = "finding"


@dataclass(frozen=True)
class StripMark:
    """Slots `[first, end)` of one layer (counted through all groups) that something points at."""

    layer: int
    first: int
    end: int
    kind: MarkKind
