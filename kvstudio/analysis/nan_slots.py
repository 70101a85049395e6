"""Slots below the offset that hold NaN: it was computed, or only one of K and V was written.

A slot in which both K and V are NaN throughout and that nobody wrote is a hole, which is found by
who wrote it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.steps import Step
from kvstudio.recording.rows import Floats

Half = Literal["K", "V"]
HALVES: tuple[Half, Half] = ("K", "V")
BOTH = 2  # in `Touch.kv`


class NanWatch:
    """Tells when it is worth to look for NaN, from nothing but how many slots hold one."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[int, int]] = {}  # NaN slots, and those below the offset

    def may_have_come(self, step: Step) -> bool:
        """Whether NaN may have come below the offset of the step's cache.

        In a cache that is filled with NaN every write takes one away; in one that is filled with
        zeros there is none.
        """
        below = max(0, step.nan_slots - max(0, step.capacity - step.offset))
        before, below_before = self._before.get(step.cache.id, (0, 0))
        self._before[step.cache.id] = (step.nan_slots, below)
        return below > below_before or step.nan_slots > before


@dataclass(frozen=True)
class NanSlots:
    """The slots with NaN that one frame wrote or found, by whether it is K or V that holds it."""

    computed: dict[Half, list[int]]
    unwritten: dict[Half, list[int]]

    @property
    def slots(self) -> list[int]:
        """Those where it was computed."""
        return sorted({slot for slots in self.computed.values() for slot in slots})

    @property
    def kv(self) -> Half | None:
        """Where it was computed, if only K or only V."""
        only = [half for half, slots in self.computed.items() if slots]
        return only[0] if len(only) == 1 else None


def nan_slots(view: FrameView, step: Step) -> NanSlots:
    """What is NaN in the slots that a step wrote, and in those that its chunk began with."""
    found = NanSlots({"K": [], "V": []}, {"K": [], "V": []})
    for first, values, written in _candidates(view, step):
        nan = np.isnan(values)
        some = np.asarray(nan.any(axis=(1, 3, 4)))  # [2, slots]
        whole = np.asarray(nan.all(axis=(1, 3, 4)))
        if not written:
            some &= ~whole.all(axis=0)
        for kv, half in enumerate(HALVES):
            for slot in (np.flatnonzero(some[kv]) + first).tolist():
                alone = written and bool(whole[kv, slot - first]) and not some[1 - kv, slot - first]
                left_out = alone and _left_out(view, step, slot, kv)
                if slot < step.offset:
                    (found.unwritten if left_out else found.computed)[half].append(slot)
    return found


def _candidates(view: FrameView, step: Step) -> Iterator[tuple[int, Floats, bool]]:
    """First slot, values `[2, B, slots, H, D]`, and whether the frame wrote them."""
    recording, frame = view.recording, view.frame
    if frame.phase == "text":
        base = recording.values_before_expansion(step.cache, view.chunk.id)
        if base is not None:
            yield 0, base, False
    for write, values in recording.written_values(step.cache, frame.id, frame.id):
        yield write.first, values, True


def _left_out(view: FrameView, step: Step, slot: int, kv: int) -> bool:
    """Whether the frame's ops wrote the other half of a slot, but not this one."""
    ops = view.recording.ops
    own = ops.of_frame(view.frame.id)
    touching = ops.touching(step.cache.id, slot, view.frame.id)
    halves = {touch.kv for op, touch in touching if touch.write and len(own) and op >= own[0]}
    return 1 - kv in halves and not halves & {kv, BOTH}
