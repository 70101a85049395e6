"""Whether a decode uses what the one before left to Mimi's convolutions, and leaves something new.

A convolution carries `previous`, the samples that its kernel still reaches back to; a transposed
one `partial`, the tail that it still owes. Each decode reads them first and writes them last.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from kvstudio.engine.contents import Content, content, nan_count
from kvstudio.engine.raw_calls import RawCall
from kvstudio.engine.replaying import uses_target
from kvstudio.engine.state import ModelState
from kvstudio.recording.evidence import Surprise

KEYS = ("previous", "partial")


class _Held(NamedTuple):
    tensor: torch.Tensor
    content: Content


class Carried:
    """What convolutions carry into one decode.

    Args:
        state: Mimi's, before the decode.
        latent: what is decoded.
    """

    def __init__(self, state: ModelState, latent: torch.Tensor) -> None:
        self.latent = content(latent)
        self._held = {
            (entry, key): _Held(tensors[key], content(tensors[key]))
            for entry, tensors in state.items()
            for key in KEYS
            if key in tensors and tensors[key].numel()
        }

    def lost(
        self, calls: Sequence[RawCall], state: ModelState, *, new_latent: bool
    ) -> list[Surprise]:
        """What of it was written over unread, and what the decode used and left as it was.

        Args:
            calls: all ops of the decode.
            state: Mimi's, after it.
            new_latent: whether another latent was decoded than the one before; if not, a
                convolution may well leave the same.
        """
        unread = self._unread(calls)
        found = []
        for (entry, key), held in self._held.items():
            if id(held.tensor) not in unread:
                continue  # no part of the decoder, or compiled
            if unread[id(held.tensor)]:
                found.append(Surprise("mimi", entry, key, "unread"))
            elif new_latent and self._is_as_it_was(state, entry, key):
                found.append(Surprise("mimi", entry, key, "kept"))
        return found

    def _unread(self, calls: Sequence[RawCall]) -> dict[int, bool]:
        """Of each tensor that an op was given, by its id: whether the first one wrote it over."""
        own = {id(held.tensor) for held in self._held.values()}
        whose = {each: each for each in own}  # with views of them
        unread: dict[int, bool] = {}
        for call in calls:
            given = [whose[each] for each in call.arguments[::3] if each in whose]
            view = call.facts.view and bool(given)
            for result in call.results[::3]:
                if view:
                    whose[result] = given[0]
                elif result in whose and result not in own:
                    del whose[result]  # the id of a view that is gone
            if not call.facts.view:
                for each in given:
                    if each not in unread:
                        unread[each] = given[1:] == [] and _writes_over(call, each, whose)
        return unread

    def _is_as_it_was(self, state: ModelState, entry: str, key: str) -> bool:
        now = state.get(entry, {}).get(key)
        if now is None or nan_count(now):
            return False
        return content(now) == self._held[entry, key].content


def _writes_over(call: RawCall, tensor: int, whose: Mapping[int, int]) -> bool:
    """Whether it is the target of a write that does not look at what was there."""
    target = whose.get(call.arguments[0]) == tensor
    return target and bool(call.facts.writes) and not uses_target(call)
