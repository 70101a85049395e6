"""What a slot of a KV cache is there for."""

from enum import IntEnum


class SlotRole(IntEnum):
    """The role of one slot at one frame. The numbers are painted, so they stay stable."""

    UNWRITTEN = 0
    VOICE = 1
    TEXT = 2
    GENERATED = 3
    STALE = 4
    DROPPED = 5

    @property
    def word(self) -> str:
        return self.name.lower()
