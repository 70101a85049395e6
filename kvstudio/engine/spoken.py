"""Which voices a script made and spoke with, told apart by what is in their slots.

A voice state that is spoken with a second time, or that was made while somebody looked, is to hold
what it held before. `generate_audio` deep-copies it, so what tells is the content of the slots.
"""

import hashlib
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kvstudio.engine.contents import Sums, checksums
from kvstudio.engine.expansion import caches_of
from kvstudio.engine.geometry import runs
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.engine.tracing import Tracing
from kvstudio.recording.evidence import Surprise

if TYPE_CHECKING:
    import torch

KEPT = 8  # voices that were made and not used yet; each keeps what its prefill computed
KNOWN = 32
ALIKE = 0.5  # share of slots in which two states are one voice, changed, rather than two voices

Slots = Mapping[str, Sums]


@dataclass(frozen=True, eq=False)
class KnownVoice:
    """What was in the slots when the voice was made, or spoken with for the first time.

    Attributes:
        slots: checksums `[2 * B, slots in use]`, by state key.
        caches: of the state that it was made in, by state key; none if that was not seen.
    """

    slots: Slots
    caches: "Mapping[str, weakref.ref[torch.Tensor]]" = field(default_factory=dict)

    def now(self) -> Slots:
        """The same slots of the state it was made in, as they are now; none if it is gone."""
        alive = {name: cache() for name, cache in self.caches.items()}
        return {
            name: checksums(cache, self.slots[name].shape[1])
            for name, cache in alive.items()
            if cache is not None
        }


class Use(NamedTuple):
    """What is known of a voice that somebody is about to speak with.

    Attributes:
        first: whether nobody has spoken with it yet.
        prefill: what was seen of it, the first time.
        changes: what somebody changed in it since it was made, each change told once.
    """

    first: bool
    prefill: Tracing | None
    changes: list[Surprise]


class SpokenVoices:
    """Knows a state again, though it is a copy, and says what somebody has changed in it."""

    def __init__(self) -> None:
        self._made: dict[bytes, Tracing] = {}
        self._spoken: set[bytes] = set()
        self._known: list[KnownVoice] = []

    def made(self, state: ModelState, tracing: Tracing) -> None:
        """A prefill has just left its voice in `state`."""
        slots = _slots(state)
        self._made[_digest(slots)] = tracing
        while len(self._made) > KEPT:
            del self._made[next(iter(self._made))]
        caches = {name: weakref.ref(cache) for name, cache in caches_of(state).items()}
        self._learn(KnownVoice(slots, caches))

    def use(self, state: ModelState) -> Use:
        """Somebody is about to speak with a voice."""
        slots = _slots(state)
        digest = _digest(slots)
        first = digest not in self._spoken
        self._spoken.add(digest)
        return Use(first, self._made.pop(digest, None), self._changes(slots))

    # ---- private ------------------------------------------------------------------------------

    def _changes(self, slots: Slots) -> list[Surprise]:
        if any(_same(voice.slots, slots) for voice in self._known):
            return []
        was = next((voice.slots for voice in self._known if _same(voice.now(), slots)), None)
        was = was or self._most_alike(slots)
        self._learn(KnownVoice(slots))
        if was is None:
            return []
        return [
            Surprise("flow_lm", name, "cache", "changed", first, last)
            for name, sums in slots.items()
            for first, last in runs((sums != was[name]).any(0))
        ]

    def _learn(self, voice: KnownVoice) -> None:
        self._known = [*self._known[1 - KNOWN :], voice]

    def _most_alike(self, slots: Slots) -> Slots | None:
        """The voice that this one was before somebody wrote to some of its slots."""
        alike = [
            (share, voice.slots)
            for voice in self._known
            if (share := _share_alike(voice.slots, slots)) >= ALIKE
        ]
        return max(alike, key=lambda each: each[0])[1] if alike else None


def _share_alike(some: Slots, others: Slots) -> float:
    """Share of equal slots over all layers, 0 for voices that merely begin alike."""
    if _shapes(some) != _shapes(others):
        return 0.0
    equal = [(sums == others[name]).all(0) for name, sums in some.items()]
    if not any(len(each) for each in equal):
        return 0.0
    begins = [len(each) if each.all() else int(each.argmin()) for each in equal]
    # Two prompts that sound alike for a while have the same slots so far, in every layer.
    one_beginning = len(set(begins)) == 1 and not any(
        each[first:].any() for each, first in zip(equal, begins, strict=True)
    )
    return 0.0 if one_beginning else float(np.concatenate(equal).mean())


def _same(some: Slots, others: Slots) -> bool:
    return _shapes(some) == _shapes(others) and all(
        np.array_equal(sums, others[name]) for name, sums in some.items()
    )


def _shapes(slots: Slots) -> dict[str, tuple[int, ...]]:
    return {name: sums.shape for name, sums in slots.items()}


def _slots(state: ModelState) -> Slots:
    """Of the slots in use; the capacity may have grown since."""
    return {
        name: checksums(cache, offset_of(state[name]) or 0)
        for name, cache in caches_of(state).items()
    }


def _digest(slots: Slots) -> bytes:
    total = hashlib.blake2b(digest_size=16)
    for name, sums in slots.items():
        total.update(f"{name} {sums.shape[1]}".encode())
        total.update(sums.tobytes())
    return total.digest()
