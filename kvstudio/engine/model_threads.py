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

DECODE_TIMEOUT_S = 600.0  # a debugger or a sleeping machine may hold the decoder for long
STOP_PATIENCE_S = 5.0  # what is being decoded when the user stops still belongs to its frame
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
        self._decoders_ended = 0

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
        try:
            return original(*args, **kwargs)
        finally:
            self._decoders_ended += 1

    def nobody_decodes(self, chunk: int) -> bool:
        """Whether the decoding thread of a chunk has ended; each chunk has one of its own."""
        return self._decoders_ended > chunk

    def wait(self, event: threading.Event, chunk: int, seconds: float = DECODE_TIMEOUT_S) -> bool:
        """Waits for something that the decoding thread does; False if that will not be."""
        began = time.monotonic()
        while not event.wait(LOOK_UP_S):
            patience = min(seconds, STOP_PATIENCE_S) if self._gate.over else seconds
            if self.nobody_decodes(chunk) or time.monotonic() - began > patience:
                return event.is_set()
        return True

    def end(self) -> None:
        """The run is over: waits for every thread to come to its end."""
        self._gate.close()
        for latents in self._latents:
            latents.put(None)
        for thread in list(self._others):
            thread.join(END_S)
