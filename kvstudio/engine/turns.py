"""Lets the threads that drive a model take turns, so that the frames of a chunk lie together.

Only those wait that drive *another* state than the one whose chunk is going on, and never for
long: until that chunk is over, or nothing of it has happened for a while.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOOK_UP_S = 0.02
IDLE_S = 0.25  # a script may leave a chunk as it is for good
IDLE_GENERATION_S = 2.0  # `generate_audio` goes on until its chunk is over
BUSY_S = 30.0  # somebody inside waits for us, or the model is very slow


class Turns:
    """Whose turn it is. A holder is whatever stands for a state; threads come and go."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: object = None
        self._generating = False
        self._inside = 0
        self._last = 0.0
        self._thread: threading.Thread | None = None
        self._ended = False

    @contextmanager
    def turn(self, holder: object, *, generating: bool) -> Iterator[None]:
        """While entered, what happens is of `holder`; waits for another one's chunk to end.

        Args:
            holder: stands for a state.
            generating: whether its chunk comes to an end by itself.
        """
        with self._changed:
            while not self._may_enter(holder):
                self._changed.wait(LOOK_UP_S)
            if holder is not self._holder:
                self._holder, self._inside = holder, 0
            self._generating = generating
            self._inside += 1
            self._note()
        try:
            yield
        finally:
            with self._changed:
                if holder is self._holder:
                    self._inside = max(0, self._inside - 1)
                    self._note()

    def give_up(self, holder: object) -> None:
        """The chunk of a holder is over."""
        with self._changed:
            if holder is self._holder:
                self._holder = None
                self._changed.notify_all()

    def end(self) -> None:
        """From now on nobody waits."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    # ---- private ------------------------------------------------------------------------------

    def _may_enter(self, holder: object) -> bool:
        if self._ended or self._holder is None or holder is self._holder:
            return True
        if self._inside == 0 and not self._generating:
            if threading.current_thread() is self._thread:
                return True  # a script that drives two states by turns
            patience = IDLE_S
        else:
            patience = BUSY_S if self._inside else IDLE_GENERATION_S
        return time.monotonic() - self._last > patience

    def _note(self) -> None:
        self._last, self._thread = time.monotonic(), threading.current_thread()
