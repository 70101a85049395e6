"""Says now and then how far a stage is and when it will be done."""

import logging
import time

log = logging.getLogger("train")

EVERY = 30.0  # seconds between two lines


class Progress:
    """Counts the steps of a stage, of which `done` were done by an earlier run."""

    def __init__(self, name: str, steps: int, done: int = 0) -> None:
        self._name = name
        self._steps = steps
        self._done = self._done_before = done
        self._started = self._said = time.monotonic()
        log.info("%s: %d of %d to do", name, steps - done, steps)

    def advance(self, **figures: float) -> None:
        """One step more; `figures` stand in the line, if there is one."""
        self._done += 1
        now = time.monotonic()
        if now - self._said >= EVERY or self._done == self._steps:
            self._said = now
            self._say(now - self._started, figures)

    def _say(self, seconds: float, figures: dict[str, float]) -> None:
        pace = seconds / (self._done - self._done_before)
        left = pace * (self._steps - self._done) / 60
        words = " ".join(f"{name} {figure:.4g}" for name, figure in figures.items())
        line = "%s: %d of %d, %.2f s each, %.1f min gone, %.1f min left %s"
        log.info(line, self._name, self._done, self._steps, pace, seconds / 60, left, words)
