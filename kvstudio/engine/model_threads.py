"""The threads that the model starts for a run, so that none is left behind when it ends.

pocket-tts makes latents in one thread and decodes them in another. When its prefill raises, the
decoding thread waits for a latent for ever; when decoding raises, the other one goes on to the
maximum length. Both would disturb the next run.
"""

import queue
import threading
import time
from typing import Any

from kvstudio.engine.gate import Gate

DECODE_TIMEOUT_S = 60.0
LOOK_UP_S = 0.1
END_S = 10.0


class ModelThreads:
    """Knows the threads of one run; make it in the thread that calls the model.

    Args:
        gate: where they are held.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._caller = threading.current_thread()
        self._others: dict[threading.Thread, None] = {}
        self._latents: list[queue.Queue[Any]] = []

    @property
    def in_caller(self) -> bool:
        """Whether this is the thread that called the model."""
        return threading.current_thread() is self._caller

    def note(self) -> None:
        """This thread runs the model."""
        if not self.in_caller:
            self._others[threading.current_thread()] = None

    def decoding(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Wraps `_decode_audio_worker`, which runs as long as its thread."""
        self.note()
        queues = [each for each in (*args, *kwargs.values()) if isinstance(each, queue.Queue)]
        self._latents += queues[:1]
        return original(*args, **kwargs)

    def wait(self, decoded: threading.Event) -> None:
        """Waits until a latent has been decoded, or will not be."""
        deadline = time.monotonic() + DECODE_TIMEOUT_S
        while not decoded.wait(LOOK_UP_S):
            if self._gate.over or time.monotonic() > deadline:
                return

    def end(self) -> None:
        """The run is over: waits for every thread to come to its end."""
        self._gate.close()
        for latents in self._latents:
            latents.put(None)
        for thread in list(self._others):
            thread.join(END_S)
