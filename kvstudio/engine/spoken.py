"""Which voices a script made and which it has spoken with, told apart by what is in their slots."""

import hashlib

from kvstudio.engine.contents import checksums
from kvstudio.engine.expansion import caches_of
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.engine.tracing import Tracing

KEPT = 8  # voices that were made and not used yet; each keeps what its prefill computed


class SpokenVoices:
    """Finds the voice prefill of a state, which `generate_audio` deep-copies before it begins."""

    def __init__(self) -> None:
        self._made: dict[bytes, Tracing] = {}
        self._spoken: set[bytes] = set()

    def made(self, state: ModelState, tracing: Tracing) -> None:
        """A prefill has just left its voice in `state`."""
        self._made[_digest(state)] = tracing
        while len(self._made) > KEPT:
            del self._made[next(iter(self._made))]

    def first_use(self, state: ModelState) -> tuple[bool, Tracing | None]:
        """Whether nobody has spoken with this voice yet, and its prefill if that was seen."""
        digest = _digest(state)
        first = digest not in self._spoken
        self._spoken.add(digest)
        return first, self._made.pop(digest, None)


def _digest(state: ModelState) -> bytes:
    """Of the slots in use; the capacity may have grown since."""
    total = hashlib.blake2b(digest_size=16)
    for name, cache in caches_of(state).items():
        offset = offset_of(state[name]) or 0
        total.update(f"{name} {offset}".encode())
        total.update(checksums(cache, offset).tobytes())
    return total.digest()
