"""One state of a slot map, as a frozen value: all that its painters need to know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kvstudio.app.painting.strip_runs import stacked

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

    from kvstudio.app.painting.strip_layout import GroupPlace, Sight, StripLayout
    from kvstudio.app.painting.strips import SlotRoles, Strip, StripGroup, StripMark
    from kvstudio.app.theme import Palette


@dataclass(frozen=True)
class Selection:
    """Slots `[first, end)` of one layer; `cursor` is the one the keyboard stands on."""

    layer: int
    first: int
    end: int
    cursor: int

    def extended_to(self, cursor: int) -> Selection:
        """From the end that stays to a new cursor."""
        anchor = self.end - 1 if self.cursor == self.first else self.first
        return Selection(self.layer, min(anchor, cursor), max(anchor, cursor) + 1, cursor)


@dataclass(frozen=True, eq=False)
class ShownGroup:
    """A group, where it lies, and its roles as one matrix `[layers, slots]`."""

    group: StripGroup
    place: GroupPlace
    roles: SlotRoles

    @cached_property
    def common_offset(self) -> int:
        """The offset most layers have."""
        offsets = [strip.offset for strip in self.group.strips]
        return max(set(offsets), key=offsets.count, default=0)

    def layers_in(self, top: float, bottom: float, sight: Sight) -> range:
        """Layers of this group, counted within it, that show between two heights."""
        start = (top + sight.top - self.place.rows_top) / self.place.row_height
        end = (bottom + sight.top - self.place.rows_top) / self.place.row_height
        return range(max(0, int(start)), min(self.place.layers, int(end) + 1))


@dataclass(frozen=True, eq=False)
class StripScene:
    groups: tuple[ShownGroup, ...]
    layout: StripLayout
    sight: Sight
    marks: tuple[StripMark, ...]
    selection: Selection | None
    has_focus: bool
    palette: Palette
    font: QFont
    ratio: float  # device pixels per device-independent pixel

    def strip(self, layer: int) -> Strip:
        place = self.layout.group_of(layer)
        shown = next(each for each in self.groups if each.place is place)
        return shown.group.strips[layer - place.first_layer]


def shown_groups(groups: tuple[StripGroup, ...], layout: StripLayout) -> tuple[ShownGroup, ...]:
    shown = []
    for group, place in zip(groups, layout.groups, strict=True):
        width = max((len(strip.roles) for strip in group.strips), default=0)
        matrix = stacked([strip.roles for strip in group.strips], width)
        shown.append(ShownGroup(group, place, matrix))
    return tuple(shown)
