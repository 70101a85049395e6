"""Everything that happened to one slot up to a frame: every write and read, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvstudio.app.cache_words import KV_WORDS
from kvstudio.recording.roles import SlotRole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.app.cache_moment import CacheMoment
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Touch


@dataclass(frozen=True)
class SlotEvent:
    """One write or read of a slot.

    Attributes:
        op: absent if the run recorded no ops, or the slot was filled before the run.
        part: K, V or K+V.
    """

    frame: int
    op: int | None
    is_write: bool
    part: str

    @property
    def words(self) -> str:
        return f"{'writes' if self.is_write else 'reads'} {self.part}"


def slot_events(
    recording: Recording, moment: CacheMoment, slot: int, frame: int
) -> list[SlotEvent]:
    """Oldest first; writes that no recorded op made are told from what the frame left behind."""
    touching = recording.ops.touching(moment.cache.id, slot, frame)
    events = _of_ops(recording, touching)
    told = {event.frame for event in events if event.is_write}
    written = {
        write.frame
        for write in recording.writes(moment.cache, frame)
        if write.first <= slot < write.last
    }
    if _was_filled_before(moment, slot):
        written.add(0)
    events += [SlotEvent(each, None, True, KV_WORDS[2]) for each in written - told]
    return sorted(events, key=lambda event: (event.frame, -1 if event.op is None else event.op))


def _of_ops(recording: Recording, touching: Sequence[tuple[int, Touch]]) -> list[SlotEvent]:
    """An event for each op and kind; an op that touches K and V is one event."""
    parts: dict[tuple[int, bool], set[int]] = {}
    for op, touch in touching:
        parts.setdefault((op, touch.write), set()).add(touch.kv)
    frames = recording.ops.frames_of(op for op, _ in parts)
    return [
        SlotEvent(frame, op, is_write, _part_word(kvs))
        for frame, ((op, is_write), kvs) in zip(frames, parts.items(), strict=True)
    ]


def _part_word(kvs: set[int]) -> str:
    both = 2 in kvs or {0, 1} <= kvs
    return KV_WORDS[2] if both else "+".join(KV_WORDS[kv] for kv in sorted(kvs & {0, 1}))


def _was_filled_before(moment: CacheMoment, slot: int) -> bool:
    return slot < moment.slots.capacity and bool(moment.slots.roles[slot] == SlotRole.VOICE)
