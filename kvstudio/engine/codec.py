"""Mimi's side of a run: the state that its decodes share, and when a decode is really over."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.carrying import Carried
from kvstudio.engine.fresh import FreshState
from kvstudio.engine.model_threads import ModelThreads
from kvstudio.engine.raw_calls import RawCall
from kvstudio.engine.state import Entry, ModelState, StateWatch
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.evidence import Surprise
from kvstudio.recording.rows import Cache

INCREMENT_TIMEOUT_S = 5.0


class Codec:
    """Follows Mimi's streaming state, which every chunk begins afresh.

    Args:
        rows: Mimi's caches, by state key.
        look, fresh: see `StateWatch`.

    Attributes:
        state: Mimi's live state dict, or None before the chunk's first frame is decoded.
        watch: what is known of it.
        incremented: set when the offsets were moved after the last decode.
    """

    def __init__(
        self,
        rows: Mapping[str, Cache],
        threads: ModelThreads,
        *,
        look: bool,
        fresh: FreshState | None = None,
    ) -> None:
        self._rows, self._threads, self._look, self._fresh = rows, threads, look, fresh
        self.incremented = threading.Event()
        self._increments = True
        self.begin_chunk(from_start=False)

    def begin_chunk(self, *, from_start: bool = True) -> None:
        """The next decode has a state of its own; new, if we see the chunk `from_start`."""
        self._from_start = from_start
        self.state: ModelState | None = None
        self.watch = StateWatch("mimi", self._rows, look=self._look, fresh=self._fresh)
        self._carried: Carried | None = None
        self._latent: tuple[Any, ...] = ()

    def begin_decode(self, state: ModelState, latent: torch.Tensor) -> Entry:
        """A latent is about to be decoded with `state`; what it finds there."""
        if self.state is None:
            self.watch.begin(state, new=self._from_start)
        self.state = state
        if self._look and self._carried is None:
            self._carried = Carried(state, latent)
        self.incremented.clear()
        entry = self.watch.entry(state)
        if self._increments:
            return entry
        # Nobody told when the offsets were moved, so they may have been after they were looked at.
        return entry._replace(surprises=[s for s in entry.surprises if s.key != "offset"])

    def lost(self, calls: Sequence[RawCall]) -> list[Surprise]:
        """What the convolutions did not carry on in the decode that ended with these ops."""
        carried, self._carried = self._carried, None
        if carried is None or self.state is None:
            return []
        new_latent = carried.latent != self._latent
        self._latent = carried.latent
        return carried.lost(calls, self.state, new_latent=new_latent)

    @contextmanager
    def noting_increments(self, tts: pocket.TTS) -> Iterator[None]:
        """While entered, knows when the offsets of Mimi's state have been moved."""
        last_stateful = [m for m in tts.mimi.modules() if hasattr(m, "increment_step")][-1]
        with wrapped(last_stateful, "increment_step", self._increment):
            yield

    def settle(self, chunk: int) -> None:
        """Waits until the worker has done with what was decoded last.

        It fades the first samples and moves the offsets after the call returned.
        """
        if self._increments:
            self._increments = self._threads.wait(self.incremented, chunk, INCREMENT_TIMEOUT_S)

    def _increment(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        self.incremented.set()
        return result


def decode_arguments(
    args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[torch.Tensor, ModelState]:
    """The latent and Mimi's state that `decode_from_latent` is given."""
    latent = kwargs["latent"] if "latent" in kwargs else args[0]
    return latent, kwargs["mimi_state"] if "mimi_state" in kwargs else args[1]
