"""Caches in the map's groups: FlowLM, Mimi's decoder, Mimi's encoder; and their strips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.cache_words import cache_label
from kvstudio.app.painting.strips import MarkKind, Strip, StripGroup, StripMark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvstudio.analysis.finding import Finding
    from kvstudio.app.cache_moment import CacheMoment
    from kvstudio.recording.rows import Chunk, Frame, Touch

FLOW_LM = "FlowLM"
DECODER = "Mimi decoder"
ENCODER = "Mimi encoder"


@dataclass(frozen=True)
class CacheGroup:
    """Caches on a common slot axis.

    Attributes:
        axis_slots: the most slots any of them has in the whole recording.
    """

    name: str
    moments: tuple[CacheMoment, ...]
    axis_slots: int = 0

    @property
    def exists(self) -> bool:
        """Whether any of the caches has been allocated by now."""
        return any(each.slots.capacity for each in self.moments)

    @property
    def typical(self) -> CacheMoment:
        """A cache whose offset and capacity most of the group share."""
        keys = [(each.offset, each.slots.capacity) for each in self.moments]
        return self.moments[keys.index(max(keys, key=keys.count))]

    def strips(self, words: tuple[str, ...]) -> StripGroup:
        """What is painted; `words` describe the group, from the fullest form to the shortest."""
        strips = tuple(_strip(each) for each in self.moments)
        return StripGroup(self.name, strips, self.axis_slots, words)


def grouped(moments: Sequence[CacheMoment], chunks: Sequence[Chunk]) -> list[CacheGroup]:
    """The groups that have caches, FlowLM first."""
    flow_axis = max((chunk.capacity_after for chunk in chunks), default=0)
    mimi_axis = max((chunk.max_gen_len * chunk.mimi_steps for chunk in chunks), default=0)
    groups = []
    for name, axis in ((FLOW_LM, flow_axis), (DECODER, mimi_axis), (ENCODER, mimi_axis)):
        here = tuple(each for each in moments if group_name(each) == name)
        if here:
            groups.append(CacheGroup(name, here, axis))
    return groups


def group_name(moment: CacheMoment) -> str:
    if moment.cache.model == "flow_lm":
        return FLOW_LM
    return ENCODER if moment.is_encoder else DECODER


def fresh_marks(moments: Sequence[CacheMoment], frame: int) -> list[StripMark]:
    """Marks on the slots that a frame wrote; layers are counted as `moments` are."""
    marks = []
    for layer, moment in enumerate(moments):
        edges = np.flatnonzero(np.diff(moment.slots.frames == frame, prepend=False, append=False))
        ends = edges.tolist()
        marks += [
            StripMark(layer, first, end, MarkKind.FRESH)
            for first, end in zip(ends[::2], ends[1::2], strict=True)
        ]
    return marks


def touch_marks(touches: Sequence[Touch], layers: Mapping[int, int]) -> list[StripMark]:
    """Marks on the slots that an op read and wrote; `layers` gives the row of a cache id."""
    marks = {
        StripMark(
            layers[touch.cache],
            touch.first,
            touch.last,
            MarkKind.WRITE if touch.write else MarkKind.READ,
        )
        for touch in touches
        if touch.cache in layers
    }
    return sorted(marks, key=lambda mark: (mark.layer, mark.kind is MarkKind.WRITE, mark.first))


def finding_marks(
    findings: Sequence[Finding], layers: Mapping[int, int], frames: Sequence[Frame], now: Frame
) -> list[StripMark]:
    """Marks on the slots of what was found in this chunk, up to a frame."""
    return [
        StripMark(layers[cache], *finding.slots, MarkKind.FINDING)
        for finding in findings
        if finding.slots is not None and _has_happened(finding, frames, now)
        for cache in finding.caches or (finding.cache,)
        if cache is not None and cache in layers
    ]


def finding_lines(findings: Sequence[Finding], cache: int, slot: int) -> list[str]:
    """What was found about a slot."""
    return [
        f"{each.kind} in frame {each.frame}"
        for each in findings
        if each.slots is not None
        and each.slots[0] <= slot < max(each.slots[1], each.slots[0] + 1)
        and cache in (each.caches or (each.cache,))
    ]


def _has_happened(finding: Finding, frames: Sequence[Frame], now: Frame) -> bool:
    frame = finding.frame
    if frame is None or not 0 <= frame < len(frames):
        return False
    return frame <= now.id and frames[frame].chunk == now.chunk


def _strip(moment: CacheMoment) -> Strip:
    return Strip(
        cache_label(moment.cache), moment.roles, moment.offset, moment.slots.capacity, moment.fill
    )
