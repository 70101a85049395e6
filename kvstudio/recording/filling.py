"""Who wrote each slot, as columns: a whole map at any frame without a loop over the writes.

Holds as long as no slot is written twice, which is how a cache fills. Where one is, `is_plain`
turns false and the map has to be made write by write.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kvstudio.recording.roles import SlotRole

NOBODY = -1
FIRST_SLOTS = 256


class Written(Protocol):
    """Slots `[first, last)` written during `frame`."""

    @property
    def frame(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def worst(self) -> int: ...


class Filling:
    """The writes to one cache during one chunk.

    Args:
        most_slots: more slots than a cache may have.
    """

    def __init__(self, most_slots: int) -> None:
        self.is_plain = True
        self._most_slots = most_slots
        self._taken = 0
        self._frames = np.full(FIRST_SLOTS, NOBODY, np.int32)
        self._roles = np.zeros(FIRST_SLOTS, np.uint8)
        self._worst = np.zeros(FIRST_SLOTS, np.uint8)

    def take(self, writes: Sequence[Written], phases: Mapping[int, str]) -> None:
        """Takes in the writes that are new; `writes` are all so far, `phases` of each frame."""
        for write in writes[self._taken :]:
            if self.is_plain:
                self._add(write, phases.get(write.frame) == "text")
        self._taken = len(writes)

    def apply(
        self,
        frame: int,
        roles: NDArray[np.uint8],
        frames: NDArray[np.int32],
        worst: NDArray[np.uint8],
    ) -> None:
        """Puts what was written up to `frame` into the arrays `[T]`."""
        slots = min(len(roles), len(self._frames))
        writers = self._frames[:slots]
        here = (writers >= 0) & (writers <= frame)
        np.copyto(frames[:slots], writers, where=here)
        np.copyto(roles[:slots], self._roles[:slots], where=here)
        np.copyto(worst[:slots], self._worst[:slots], where=here)

    # ---- private ------------------------------------------------------------------------------

    def _add(self, write: Written, is_text: bool) -> None:
        if write.last > self._most_slots:
            self.is_plain = False
            return
        self._make_room(write.last)
        slots = slice(write.first, write.last)
        if (self._frames[slots] != NOBODY).any():
            self.is_plain = False
            return
        self._frames[slots] = write.frame
        self._roles[slots] = SlotRole.TEXT if is_text else SlotRole.GENERATED
        self._worst[slots] = write.worst

    def _make_room(self, slots: int) -> None:
        missing = max(slots, 2 * len(self._frames)) - len(self._frames)
        if slots > len(self._frames):
            self._frames = np.pad(self._frames, (0, missing), constant_values=NOBODY)
            self._roles = np.pad(self._roles, (0, missing))
            self._worst = np.pad(self._worst, (0, missing))
