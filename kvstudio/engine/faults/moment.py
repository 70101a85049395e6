"""When an edit acts, and on what."""

from dataclasses import dataclass
from typing import Literal, Protocol

from kvstudio.engine.state import ModelState


@dataclass(frozen=True)
class Moment:
    """The instant before a frame runs, in the model thread that will run it.

    Attributes:
        frame: 1 or more; frame 0 is the making of the voice.
        phase: `text` (before the expansion) or `decode`.
        state: FlowLM's live state dict.
        mimi_state: Mimi's live state dict, or None before the chunk's first frame is decoded.
    """

    frame: int
    phase: Literal["text", "decode"]
    state: ModelState
    mimi_state: ModelState | None


class Edits(Protocol):
    """What is to be changed while the model runs."""

    def before(self, moment: Moment) -> None:
        """Called before every frame but the voice's, in the thread that will run it."""
