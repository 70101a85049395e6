"""The gate that holds the model's threads between frames until the user steps."""

import threading
from collections.abc import Callable

FOR_EVER = 2**62


class RunStopped(Exception):
    """Raised in a model thread at the gate: the user stopped the run."""


class Gate:
    """Blocks model threads before each frame; only they wait, never the one that commands.

    Args:
        on_held: called with the next frame's id when a thread begins to wait.
        on_released: called with the frame's id when it goes on.
    """

    def __init__(
        self,
        on_held: Callable[[int], None] | None = None,
        on_released: Callable[[int], None] | None = None,
    ) -> None:
        self._changed = threading.Condition()
        self._last_allowed = -1
        self._next_frame = 0
        self._stopped = False
        self._on_held = on_held
        self._on_released = on_released

    def wait_before(self, frame: int) -> None:
        """Waits until frame `frame` may happen.

        Raises:
            RunStopped: the run is to end.
        """
        with self._changed:
            self._next_frame = frame
            held = not self._stopped and frame > self._last_allowed
        if held and self._on_held:
            self._on_held(frame)
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or frame <= self._last_allowed)
            if self._stopped:
                raise RunStopped("the run was stopped")
        if held and self._on_released:
            self._on_released(frame)

    @property
    def stopped(self) -> bool:
        return self._stopped

    def step(self, count: int = 1) -> None:
        """Lets `count` more frames happen after those done or allowed already."""
        with self._changed:
            self._last_allowed = max(self._last_allowed, self._next_frame - 1) + count
            self._changed.notify_all()

    def run(self, until: int | None = None) -> None:
        """Lets frames happen up to and including `until`, or all."""
        with self._changed:
            self._last_allowed = FOR_EVER if until is None else until
            self._changed.notify_all()

    def pause(self) -> None:
        """Holds before the next frame."""
        with self._changed:
            self._last_allowed = -1

    def stop(self) -> None:
        """Ends the run: every thread at the gate, now or later, gets RunStopped."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
