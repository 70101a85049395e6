"""Where each strip and slot lies on the screen, and what lies under a point; no painting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

if TYPE_CHECKING:
    from collections.abc import Sequence

TITLE_HEIGHT = 19.0
RULER_HEIGHT = 15.0
HEADER_HEIGHT = TITLE_HEIGHT + RULER_HEIGHT
GROUP_GAP = 10.0
LOWEST_ROW = 13.0
HIGHEST_ROW = 26.0
RIGHT_MARGIN = 20.0
WIDEST_SLOT = 48.0
STRIP_GAP = 3.0


@dataclass(frozen=True)
class GroupPlace:
    """One group from top to bottom, in content coordinates (before scrolling)."""

    top: float
    first_layer: int
    layers: int
    slots: int
    row_height: float

    @property
    def rows_top(self) -> float:
        return self.top + HEADER_HEIGHT

    @property
    def bottom(self) -> float:
        return self.rows_top + self.layers * self.row_height


@dataclass(frozen=True)
class Sight:
    """How the content is looked at: magnified along the slots, scrolled by pixels."""

    zoom: float = 1.0
    left: float = 0.0
    top: float = 0.0


@dataclass(frozen=True)
class StripLayout:
    """All groups in a viewport of a given size; lengths in device-independent pixels."""

    groups: tuple[GroupPlace, ...]
    gutter: float
    width: float

    @cached_property
    def plot_width(self) -> float:
        return max(1.0, self.width - self.gutter - RIGHT_MARGIN)

    @property
    def height(self) -> float:
        return self.groups[-1].bottom + GROUP_GAP if self.groups else 0.0

    @property
    def greatest_zoom(self) -> float:
        most = max((group.slots for group in self.groups), default=1)
        return max(1.0, most * WIDEST_SLOT / self.plot_width)

    def scale(self, group: GroupPlace, sight: Sight) -> float:
        """Pixels per slot."""
        return self.plot_width * sight.zoom / group.slots

    def x_of(self, group: GroupPlace, slot: float, sight: Sight) -> float:
        return self.gutter - sight.left + slot * self.scale(group, sight)

    def slot_at(self, group: GroupPlace, x: float, sight: Sight) -> float:
        return (x - self.gutter + sight.left) / self.scale(group, sight)

    def group_of(self, layer: int) -> GroupPlace:
        return next(g for g in self.groups if layer < g.first_layer + g.layers)

    def strip_rect(self, layer: int, sight: Sight) -> QRectF:
        """The strip of a layer, its full axis wide."""
        group = self.group_of(layer)
        top = group.rows_top + (layer - group.first_layer) * group.row_height - sight.top
        left, right = self.x_of(group, 0, sight), self.x_of(group, group.slots, sight)
        return QRectF(left, top, right - left, group.row_height - STRIP_GAP)

    def slots_rect(self, layer: int, first: int, end: int, sight: Sight) -> QRectF:
        group = self.group_of(layer)
        rect = self.strip_rect(layer, sight)
        rect.setLeft(self.x_of(group, first, sight))
        rect.setRight(self.x_of(group, end, sight))
        return rect

    def layer_at(self, y: float, sight: Sight) -> int | None:
        inside = y + sight.top
        for group in self.groups:
            if group.rows_top <= inside < group.bottom:
                return group.first_layer + int((inside - group.rows_top) // group.row_height)
        return None

    def hit(self, point: QPointF, sight: Sight) -> tuple[int, int] | None:
        """The (layer, slot) under a point; the slot may lie past the end of its strip."""
        layer = self.layer_at(point.y(), sight)
        if layer is None or not self.gutter <= point.x() <= self.width:
            return None
        group = self.group_of(layer)
        slot = int(self.slot_at(group, point.x(), sight) // 1)
        return (layer, slot) if 0 <= slot < group.slots else None


def arrange(
    sizes: Sequence[tuple[int, int]], gutter: float, width: float, height: float
) -> StripLayout:
    """Stack groups of (layers, slots) so that they fill the height as far as rows stay legible."""
    rows = sum(layers for layers, _ in sizes)
    fixed = len(sizes) * (HEADER_HEIGHT + GROUP_GAP)
    row_height = (height - fixed) // rows if rows else LOWEST_ROW
    row_height = min(max(row_height, LOWEST_ROW), HIGHEST_ROW)
    groups: list[GroupPlace] = []
    top, first = 0.0, 0
    for layers, slots in sizes:
        groups.append(GroupPlace(top, first, layers, slots, row_height))
        top, first = groups[-1].bottom + GROUP_GAP, first + layers
    return StripLayout(tuple(groups), gutter, width)


def tick_step(slots_per_label: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50 ... that leaves room for a label at each tick."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if step >= slots_per_label:
                return step
        power *= 10
