"""The cache map in words: a line for each group, what is wrong with it, and all of it as text."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.analysis.normal import NAN_PAST_THE_OFFSET, window_words
from kvstudio.app.cache_map.grouping import DECODER, FLOW_LM, CacheGroup
from kvstudio.app.cache_moment import frame_words
from kvstudio.app.cache_words import cache_label, slots_words
from kvstudio.app.painting.strips import PaintedRole
from kvstudio.app.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.app.cache_moment import CacheMoment
    from kvstudio.app.painting.strips import SlotRoles
    from kvstudio.recording.rows import Chunk, Frame

DOT = " · "
FRAMES_A_SECOND = 12.5
_FILLED = [role for role in PaintedRole if role not in (PaintedRole.UNWRITTEN, PaintedRole.NOTHING)]


def group_lines(group: CacheGroup, frame: Frame, chunk: Chunk) -> tuple[str, ...]:
    """The state of a group in one line, after its name; shorter ones follow the fullest."""
    layers = counted(len(group.moments), "layer")
    if not group.exists:
        return (f"{layers}{DOT}not allocated before the first decode step", "not allocated yet")
    typical = group.typical
    counts = typical.counts()
    filled = " + ".join(f"{role.word} {counts[role]:,}" for role in _FILLED if counts[role])
    offset = f"offset {typical.offset:,} of {typical.slots.capacity:,}"
    left = counts[PaintedRole.UNWRITTEN]
    unwritten = f"{left:,} unwritten" if left else "none unwritten"
    parts = [layers, offset, filled, unwritten, _change_words(group, frame, chunk)]
    shorter = filled.replace("generated", "gen")
    drafts = (
        parts,
        parts[1:],
        parts[:4],
        parts[1:4],
        [offset, shorter, unwritten],
        [offset, shorter],
        [offset],
    )
    return tuple(DOT.join(part for part in draft if part) for draft in drafts)


def encoder_line(group: CacheGroup) -> str:
    layers = counted(len(group.moments), "encoder layer")
    if not group.exists:
        return f"{layers}, not allocated yet"
    if any(each.slots.written.any() for each in group.moments):
        return f"{layers}, written to"
    return f"{layers}, never used"


def trouble_lines(groups: Sequence[CacheGroup]) -> list[str]:
    """What is wrong in a way that nobody may overlook."""
    lines = []
    for group in groups:
        if not group.exists:
            continue
        lines += _skew_lines(group, "offset", [each.offset for each in group.moments])
        lines += _skew_lines(group, "capacity", [each.slots.capacity for each in group.moments])
        lines += [line for each in group.moments for line in _hole_lines(each)]
    return lines


def normal_lines(moment: CacheMoment, slot: int) -> list[str]:
    """What looks odd about a slot and is normal."""
    roles = moment.roles
    lines = []
    if slot < len(roles) and roles[slot] == PaintedRole.UNWRITTEN and moment.fill == "NaN":
        lines.append(NAN_PAST_THE_OFFSET)
    # A Mimi step is one slot; a frame of 80 ms has so many.
    steps = int((moment.slots.frames == moment.frame).sum())
    window = window_words(moment.cache, steps * FRAMES_A_SECOND)
    past = moment.cache.context is not None and slot < moment.offset - moment.cache.context
    return [*lines, window] if window is not None and past else lines


def map_text(groups: Sequence[CacheGroup], frame: Frame) -> str:
    """The whole map as plain text, a line for each cache."""
    lines = [f"Cache map after {frame_words(frame)}"]
    for group in groups:
        lines += ["", group.name]
        width = max(len(cache_label(each.cache)) for each in group.moments)
        lines += [
            f"  {cache_label(each.cache):<{width}}  {_runs_text(each)}" for each in group.moments
        ]
    lines += [f"! {line}" for line in trouble_lines(groups)]
    return "\n".join(lines) + "\n"


def _change_words(group: CacheGroup, frame: Frame, chunk: Chunk) -> str:
    """What this frame did to the group as a whole, or what is to come."""
    typical = group.typical
    if group.name == DECODER and typical.frame != frame.id:
        return f"last stepped in frame {typical.frame}"
    if group.name != FLOW_LM or chunk.capacity_before == chunk.capacity_after:
        return ""
    if frame.phase == "voice" and typical.slots.capacity < chunk.capacity_after:
        return f"grows to {chunk.capacity_after:,} at the text prefill"
    if frame.phase == "text" and typical.slots.capacity == chunk.capacity_after:
        return f"grown from {chunk.capacity_before:,}"
    return ""


def _skew_lines(group: CacheGroup, noun: str, numbers: list[int]) -> list[str]:
    usual = max(set(numbers), key=numbers.count)
    odd = [
        f"{cache_label(each.cache)} has {number:,}"
        for each, number in zip(group.moments, numbers, strict=True)
        if number != usual
    ]
    if not odd:
        return []
    most = f" and {len(odd) - 3} more differ" if len(odd) > 3 else ""
    return [f"{group.name} layers differ in {noun}: {', '.join(odd[:3])}{most}, the rest {usual:,}"]


def _hole_lines(moment: CacheMoment) -> list[str]:
    holes = np.flatnonzero(moment.roles == PaintedRole.HOLE)
    if not holes.size:
        return []
    first = int(holes[0])
    slots = counted(len(holes), "slot")
    return [
        f"{cache_label(moment.cache)}: nobody wrote {slots} below the offset, first slot {first}"
    ]


def _runs_text(moment: CacheMoment) -> str:
    if not moment.slots.capacity:
        return "not allocated"
    roles = moment.roles
    runs = ", ".join(
        f"{PaintedRole(roles[first]).word} {slots_words(first, end)}"
        for first, end in _runs_of_equals(roles)
    )
    return f"offset {moment.offset} of {moment.slots.capacity}: {runs} (unwritten is {moment.fill})"


def _runs_of_equals(roles: SlotRoles) -> list[tuple[int, int]]:
    edges = [0, *(np.flatnonzero(np.diff(roles)) + 1).tolist(), len(roles)]
    return list(pairwise(edges))
