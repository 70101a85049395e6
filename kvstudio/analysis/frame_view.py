"""What the checks are shown of one frame: read once, shared by all of them.

The engine runs the checks between frames, so what is dear is looked up only when a check asks.
"""

from dataclasses import dataclass
from functools import cached_property

from kvstudio.analysis.steps import Step
from kvstudio.recording.evidence import Attention, Misuse, Surprise
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import CacheState, Chunk, Floats, Frame, TensorState
from kvstudio.recording.slots import SlotMap, Write


@dataclass(frozen=True)
class FrameView:
    """One frame of a recording as it was when it was complete; nothing of it changes later.

    Attributes:
        steps: what the frame did to each cache that it should write; none for the voice prefill.
        states: every cache after the frame, by cache id.
        samples: the frame's audio, None if it has none.
        first_sample: index of its first sample in the whole audio.
    """

    recording: Recording
    frame: Frame
    chunk: Chunk
    steps: tuple[Step, ...]
    states: dict[int, CacheState]
    samples: Floats | None
    first_sample: int

    @cached_property
    def writes(self) -> dict[int, list[Write]]:
        """Slots whose values the frame changed, by cache id."""
        writes: dict[int, list[Write]] = {}
        for write in self.recording.frame_writes(self.frame.id):
            writes.setdefault(write.cache, []).append(write)
        return writes

    @cached_property
    def latent(self) -> Floats | None:
        return self.recording.latent(self.frame.id)

    @cached_property
    def misuses(self) -> list[Misuse]:
        return self.recording.evidence.misuses(self.frame.id)

    @cached_property
    def attentions(self) -> list[Attention]:
        return self.recording.evidence.attentions(self.frame.id)

    @cached_property
    def surprises(self) -> list[Surprise]:
        return self.recording.evidence.surprises(self.frame.id)

    @cached_property
    def touched(self) -> set[int]:
        """Caches of which an op read or wrote a slot, other than to expand them."""
        return self.recording.evidence.touched(self.frame.id)

    def keeps_elsewhere(self, model: str) -> bool:
        """Whether a part of the model keeps K and V somewhere else: no op met a cache of it."""
        if self.recording.spec.trace != "full" or not self.frame.op_count:
            return False
        return not any(c.model == model and c.id in self.touched for c in self.recording.caches)

    @cached_property
    def fed(self) -> str | None:
        """What a decode step was fed; see the `fed` table."""
        return self.recording.evidence.fed(self.frame.id).get(self.frame.id)

    @cached_property
    def slot_maps(self) -> dict[int, SlotMap]:
        """Every slot of every cache, by cache id; takes milliseconds."""
        maps = self.recording.slot_maps(self.frame.id)
        return {found.cache.id: found for found in maps}

    @cached_property
    def changed_tensors(self) -> list[TensorState]:
        """Tensors of the streaming state that the frame changed in any way."""
        return self.recording.tensors(self.frame.id, changed=True)
