"""Which threads belong to one `_generate` call, and how long one of them waits for another."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kvstudio.engine.gate import Gate
from kvstudio.engine.model_threads import ModelThreads

LOOK_UP_S = 0.05
PICK_UP_S = 20.0  # a decoding thread takes a latent at once, if the machine lets it
DECODING_S = 60.0
OWN_THREAD_S = 1.0  # a thread of the script's own may decode, or may not


@dataclass(eq=False)
class Link:
    """One `_generate` call: its queue of latents tells which threads belong to it.

    Attributes:
        strand: what observes it.
        generator, decoder: the threads that make latents and decode them, once they run.
        generated, decoded: whether these have come to their end.
    """

    latents: "queue.Queue[Any]"
    strand: Any = None
    generator: threading.Thread | None = None
    decoder: threading.Thread | None = None
    generated: bool = False
    decoded: bool = False

    @property
    def over(self) -> bool:
        return self.generated and self.decoded


class Links:
    """The `_generate` calls that are under way, and the one that each thread works for.

    Args:
        lock: of the recording.
    """

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._links: list[Link] = []
        self._threads = threading.local()

    @property
    def here(self) -> Link | None:
        """The one that this thread works for."""
        return getattr(self._threads, "link", None)

    @contextmanager
    def entered(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Link | None]:
        """While entered, what this thread does is of the call that has this queue of latents."""
        queues = [each for each in (*args, *kwargs.values()) if isinstance(each, queue.Queue)]
        before = self.here
        link = self._threads.link = self._of(queues[0]) if queues else None
        try:
            yield link
        finally:
            self._threads.link = before

    def _of(self, latents: "queue.Queue[Any]") -> Link:
        with self._lock:
            self._links = [each for each in self._links if not each.over]
            for link in self._links:
                if link.latents is latents:
                    return link
            self._links.append(Link(latents))
            return self._links[-1]


class StrandThreads(ModelThreads):
    """Waits for a decode only where somebody else is about to do it, and never for long.

    Attributes:
        link: of a `_generate` call, if it is one that drives the strand.
        decoder: the thread that decoded last.
        decoding_now: whether it is at it.
    """

    def __init__(self, gate: Gate, closing: threading.Event) -> None:
        super().__init__(gate)
        self._closing = closing
        self.link: Link | None = None
        self.decoder: threading.Thread | None = None
        self.decoding_now = False
        self._patient = True

    @property
    def in_caller(self) -> bool:
        return True

    def note(self) -> None:
        """The threads of a script are the script's; nobody ends them."""

    def nobody_decodes(self, chunk: int) -> bool:
        return False

    def wait(self, event: threading.Event, chunk: int, seconds: float = PICK_UP_S) -> bool:
        """Waits for something that follows a decode at once."""
        if self._patient and self._somebody_decodes():
            event.wait(seconds if self.link is not None else min(seconds, OWN_THREAD_S))
        return event.is_set()

    def wait_until(self, changed: threading.Condition, done: Callable[[], bool]) -> None:
        """Waits for a decode; `changed` is held and notified of it."""
        began = time.monotonic()
        while not done() and self._patient and self._somebody_decodes():
            changed.wait(LOOK_UP_S)
            if time.monotonic() - began > self._patience():
                self._patient = False  # whoever decodes does it at another time

    def _patience(self) -> float:
        if self.decoding_now:
            return DECODING_S
        return OWN_THREAD_S if self.link is None else PICK_UP_S

    def _somebody_decodes(self) -> bool:
        decoder, over = self.decoder, False
        if self.link is not None:  # its thread is there before the first latent is
            decoder, over = self.link.decoder, self.link.decoded
        gone = decoder is None or over or not decoder.is_alive()
        return not (gone or decoder is threading.current_thread() or self._closing.is_set())
