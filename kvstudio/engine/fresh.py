"""What a streaming state is like when it has just been made, to hold others against."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from kvstudio.engine import pocket
from kvstudio.engine.contents import Content, Sums, checksums, content

ModelState = Mapping[str, Mapping[str, torch.Tensor]]


class FreshState:
    """A state as its modules make it.

    Args:
        state: just made; its caches may be of any capacity but none.

    Attributes:
        contents: of every tensor but the caches, by entry and key.
    """

    def __init__(self, state: ModelState) -> None:
        self.contents: dict[tuple[str, str], Content] = {}
        self._slots: dict[str, Sums] = {}
        for entry, tensors in state.items():
            for key, tensor in tensors.items():
                if key == "cache":
                    self._slots[entry] = checksums(tensor, 1)
                else:
                    self.contents[entry, key] = content(tensor)

    def sums(self, entry: str, found: Sums) -> Sums:
        """The checksums that a cache would have, had nobody written to it."""
        slot = self._slots.get(entry)
        if slot is None or len(slot) != len(found):
            return found
        fresh: Sums = np.broadcast_to(slot, found.shape).copy()
        return fresh

    def slots(self, entry: str, found: Sums) -> NDArray[np.bool_]:
        """Which slots are as if nobody had written to them, by their checksums, `[T]`."""
        slot = self._slots.get(entry)
        if slot is None or len(slot) != len(found):
            return np.zeros(found.shape[1], bool)
        same: NDArray[np.bool_] = (found == slot).all(0)
        return same


def fresh_codec(tts: pocket.TTS) -> FreshState | None:
    """What Mimi's state is like when just made, if that can be known."""
    state = pocket.fresh_state(tts.mimi)
    return None if state is None else FreshState(state)
