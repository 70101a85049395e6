"""The gate that holds the model's threads between frames until the user steps."""

import threading
from collections.abc import Callable, Set

from kvstudio.recording.errors import KVStudioError

FOR_EVER = 2**62
FIRST_FRAME = 1  # frame 0 is the voice prefill, which is over before the run begins


class RunStopped(Exception):
    """Raised in a model thread at the gate: the run is to end."""


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
        self._last_allowed = self._last_passed = FIRST_FRAME - 1
        self._next_frame = FIRST_FRAME
        self._held = False
        self._to_finding = False
        self._breaks: frozenset[str] = frozenset()
        self._stopped = False
        self._end = threading.Event()
        self._on_held = on_held
        self._on_released = on_released

    def wait_before(self, frame: int) -> None:
        """Waits until frame `frame` may happen.

        Raises:
            RunStopped: the run is to end.
        """
        # Nobody waits without having said so: a pause may come between the two looks.
        if self._may_pass(frame):
            return
        if self._on_held:
            self._on_held(frame)
        with self._changed:
            self._changed.wait_for(lambda: self.over or frame <= self._last_allowed)
            self._held = False
            self._require_going_on()
            self._last_passed = frame
        if self._on_released:
            self._on_released(frame)

    @property
    def stopped(self) -> bool:
        """Whether the user stopped the run."""
        return self._stopped

    @property
    def over(self) -> bool:
        """Whether nothing passes any more."""
        return self._end.is_set()

    @property
    def end(self) -> threading.Event:
        """Set when the run is to end, for those who can be told so."""
        return self._end

    @property
    def held(self) -> int | None:
        """The frame before which a thread waits, if one does."""
        with self._changed:
            return self._next_frame if self._held else None

    def step(self, count: int = 1) -> None:
        """Lets `count` more frames happen after those done or allowed already."""
        if count < 1:
            raise KVStudioError(f"cannot step {count} frames; step 1 or more")
        with self._changed:
            self._to_finding = False
            self._last_allowed = max(self._last_allowed, self._next_frame - 1) + count
            self._changed.notify_all()

    def run(self, until: int | None = None, *, to_finding: bool = False) -> None:
        """Lets frames happen up to and including `until`, or all; or up to the next finding."""
        with self._changed:
            if until is not None and until < self._next_frame:
                raise KVStudioError(
                    f"frame {until} has happened already; the next one is {self._next_frame}"
                )
            self._to_finding = to_finding
            self._last_allowed = FOR_EVER if until is None else until
            self._changed.notify_all()

    def break_at(self, kinds: Set[str]) -> None:
        """From now on holds before the next frame when one of these kinds was found."""
        with self._changed:
            self._breaks = frozenset(kinds)

    def found(self, findings: Set[str], seen: Set[str]) -> Set[str]:
        """Holds before the next frame if somebody waits for what was found in the last one.

        Args:
            findings: the kinds of new findings.
            seen: the kinds of all that the checks saw for the first time, consequences too.

        Returns:
            The kinds for which it holds.
        """
        with self._changed:
            awaited = seen & self._breaks
            if self._to_finding:
                awaited = awaited | findings
            if awaited:
                self._hold_next()
            return awaited

    def pause(self) -> None:
        """Holds before the next frame."""
        with self._changed:
            self._hold_next()

    def stop(self) -> None:
        """Ends the run: every thread at the gate, now or later, gets RunStopped."""
        self._stopped = True
        self.close()

    def close(self) -> None:
        """The run is over by itself: threads that it left at the gate get RunStopped."""
        with self._changed:
            self._end.set()
            self._changed.notify_all()

    # ---- private ------------------------------------------------------------------------------

    def _hold_next(self) -> None:
        self._to_finding = False
        self._last_allowed = self._last_passed

    def _may_pass(self, frame: int) -> bool:
        with self._changed:
            self._next_frame = frame
            self._require_going_on()
            self._held = frame > self._last_allowed
            if not self._held:
                self._last_passed = frame
            return not self._held

    def _require_going_on(self) -> None:
        if self.over:
            raise RunStopped("the run was stopped")
