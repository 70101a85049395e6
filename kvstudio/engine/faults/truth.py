"""What a fault knows about itself: where a finding has to be for it to be the right one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Truth:
    """The first place at which an edit did what it is there for.

    Attributes:
        frames: the finding must name one of them; empty if nobody can know.
        layers: as findings name them: numbers for FlowLM, state entries for Mimi; empty for any.
        slots: `[lo, hi)`, one for each side from which it can be told; empty for any.
    """

    frames: tuple[int, ...] = ()
    layers: tuple[int | str, ...] = ()
    slots: tuple[tuple[int, int], ...] = ()
