"""Which function does which recipe."""

from collections.abc import Callable

from kvstudio.engine.faults.live import Live

Fault = Callable[[Live], None]
PATCHES: dict[str, Fault] = {}
"""Faults that change the model; what they do to it comes undone when the run ends."""
SPOILERS: dict[str, Fault] = {}
"""Faults that change the state, once; it belongs to the run."""


def patch(name: str) -> Callable[[Fault], Fault]:
    """Called once, before its frame, and again before a run whose voice it helped to make."""
    return lambda fault: PATCHES.setdefault(name, fault)


def spoiler(name: str) -> Callable[[Fault], Fault]:
    """Called once, before its frame; at frame 0 when the voice has been made.

    A recipe may have both.
    """
    return lambda fault: SPOILERS.setdefault(name, fault)
