"""One cache as a frame left it, also where the frame did not touch it, and its slots in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvstudio.app.cache_words import cache_label
from kvstudio.app.painting.strips import PaintedRole, painted_roles
from kvstudio.recording.numbers import INF, NAN
from kvstudio.recording.roles import SlotRole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvstudio.app.painting.strips import SlotRoles
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Cache, Frame
    from kvstudio.recording.slots import SlotMap

LOOK_BACK = 2
"""Frames to look back for a cache that has no state in one: the last latent is not decoded."""

FILL_WORDS = {"nan": "NaN", "none": "NaN", "zero": "zero", "other": "other"}


@dataclass(frozen=True)
class CacheMoment:
    """One cache at one frame.

    Attributes:
        slots: what every slot is; its capacity is 0 before the cache exists.
        frame: the frame that last stepped the cache, the one asked for or one shortly before.
        fill: what an unwritten slot holds, in a word.
    """

    slots: SlotMap
    frame: int
    fill: str = "NaN"

    @property
    def cache(self) -> Cache:
        return self.slots.cache

    @property
    def is_encoder(self) -> bool:
        """Mimi's encoder has caches too; speaking allocates them and never writes a slot."""
        return is_encoder(self.cache)

    @property
    def offset(self) -> int:
        """Slots filled; if the state has no offset, up to the last one written."""
        if self.slots.offset is not None:
            return self.slots.offset
        written = self.slots.written.nonzero()[0]
        return int(written[-1]) + 1 if written.size else 0

    @property
    def roles(self) -> SlotRoles:
        """`PaintedRole` numbers `[T]`; in an encoder, nobody is missed below the offset."""
        worst = self.slots.worst
        return painted_roles(
            self.slots.roles,
            0 if self.is_encoder else self.offset,
            nan=worst == NAN,
            inf=worst == INF,
        )

    def writer(self, slot: int) -> int | None:
        """The frame that last wrote a slot, if one of the run did."""
        frames = self.slots.frames
        return int(frames[slot]) if slot < len(frames) and frames[slot] >= 0 else None

    def counts(self) -> Counter[PaintedRole]:
        """How many slots have each role."""
        roles = self.roles
        return Counter(
            {role: int(count) for role in PaintedRole if (count := (roles == role).sum())}
        )


def is_encoder(cache: Cache) -> bool:
    return "encoder_transformer" in cache.name


def cache_moments(
    recording: Recording, frame: int, caches: Sequence[Cache] | None = None
) -> list[CacheMoment]:
    """Each cache (default: all) as it was after a frame."""
    fills = expansion_fills(recording, recording.frames[frame].chunk)
    found = [
        CacheMoment(slots, frame, fills.get(slots.cache.id, "NaN"))
        for slots in recording.slot_maps(frame, None if caches is None else list(caches))
    ]
    for earlier in _frames_before(recording, frame):
        absent = [number for number, each in enumerate(found) if not each.slots.capacity]
        if not absent:
            break
        maps = recording.slot_maps(earlier, [found[number].cache for number in absent])
        for number, slots in zip(absent, maps, strict=True):
            if slots.capacity:
                found[number] = CacheMoment(slots, earlier, found[number].fill)
    return found


def expansion_fills(recording: Recording, chunk: int) -> Mapping[int, str]:
    """By cache id, what the chunk's new slots were filled with, in a word."""
    return {
        each.cache: FILL_WORDS.get(each.fill, each.fill) for each in recording.expansions(chunk)
    }


def frame_words(frame: Frame) -> str:
    """Such as `decode step 16 (frame 18)`."""
    return f"{frame.title} (frame {frame.id})"


def slot_words(moment: CacheMoment, slot: int, frames: Sequence[Frame]) -> str:
    """One slot in words: role and who wrote it."""
    return f"{cache_label(moment.cache)}, slot {slot}: {slot_state_words(moment, slot, frames)}"


def slot_state_words(moment: CacheMoment, slot: int, frames: Sequence[Frame]) -> str:
    """Such as `generated, written in decode step 16 (frame 18)`."""
    if not moment.slots.capacity:
        return "not allocated yet"
    if slot >= moment.slots.capacity:
        return f"past the capacity of {moment.slots.capacity:,}"
    role = PaintedRole(moment.roles[slot])
    if moment.slots.roles[slot] == SlotRole.UNWRITTEN:
        return _unwritten_words(moment, slot, role)
    writer = int(moment.slots.frames[slot])
    if writer >= 0:
        return f"{role.word}, written in {frame_words(frames[writer])}"
    return f"{role.word}, there since {frame_words(frames[0])}"


def _unwritten_words(moment: CacheMoment, slot: int, role: PaintedRole) -> str:
    words = f"unwritten ({moment.fill})"
    if role is PaintedRole.HOLE:
        return f"hole: {words}, though below the offset of {moment.offset:,}"
    if moment.is_encoder:
        return f"{words}, as all of the encoder while speaking"
    return f"{words}, the next write goes here" if slot == moment.offset else words


def _frames_before(recording: Recording, frame: int) -> range:
    first = frame
    chunk = recording.frames[frame].chunk
    while first > max(0, frame - LOOK_BACK) and recording.frames[first - 1].chunk == chunk:
        first -= 1
    return range(frame - 1, first - 1, -1)
