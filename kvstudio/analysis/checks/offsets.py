"""offset-skew, offset-jump, codec-step-mismatch: offsets that differ, or move by something else.

Every layer of FlowLM sees every frame, so their offsets are equal; and a frame moves an offset by
just the slots that it writes: a text prefill by its tokens, a decode step by 1, Mimi by its steps.
"""

from collections import Counter

from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    finding_of,
    frame_words,
    layers_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.steps import Step
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import CacheState


class OffsetSkewCheck:
    """FlowLM layers whose offset is not that of most."""

    def __init__(self) -> None:
        self._seen = Sightings()

    def look(self, view: FrameView) -> None:
        flow = [cache for cache in view.recording.caches if cache.model == "flow_lm"]
        offsets = {c.id: _offset(view.states.get(c.id)) for c in flow if c.id in view.states}
        if len(set(offsets.values())) < 2 or view.frame.problem is not None:
            return
        usual = Counter(offsets.values()).most_common(1)[0][0]
        for cache in flow:
            if cache.id in offsets and offsets[cache.id] != usual:
                both = (offsets[cache.id], usual)
                self._seen.add(cache, view.frame, (min(both), max(both)))

    def findings(self, recording: Recording) -> list[Finding]:
        return self._seen.findings(lambda group: _skew(recording, group))


class OffsetJumpCheck:
    """Offsets that moved by another number of slots than their frame writes.

    After the last latent nobody needs to move Mimi's offset: that it stands still is told when
    another latent is decoded there.
    """

    def __init__(self) -> None:
        self._seen = Sightings()
        self._first: dict[int, Step] = {}
        self._still: dict[int, Step] = {}  # the last step of a cache, if Mimi's stood still

    def look(self, view: FrameView) -> None:
        for step in view.steps:
            still = self._still.pop(step.cache.id, None)
            if still is not None and still.chunk.id == step.chunk.id:
                self._add(still)
            moved = step.offset - step.before
            if step.frame.problem is not None or moved == step.should_write:
                continue
            if moved == 0 and step.cache.model == "mimi":
                self._still[step.cache.id] = step
            else:
                self._add(step)

    def _add(self, step: Step) -> None:
        slots = (min(step.before, step.offset), max(step.before, step.offset))
        self._first.setdefault(step.cache.id, step)
        self._seen.add(step.cache, step.frame, slots)

    def findings(self, recording: Recording) -> list[Finding]:
        return self._seen.findings(lambda group: _jump(self._first[group[0].cache.id], group))


def _offset(state: CacheState | None) -> int:
    return -1 if state is None or state.offset is None else state.offset


def _skew(recording: Recording, group: list[Sighting]) -> Finding:
    first = group[0]
    odd = _offset(recording.cache_states(first.frame.id).get(first.cache.id))
    odd, usual = first.slots if odd == first.slots[0] else first.slots[::-1]
    message = (
        f"{layers_words([seen.cache for seen in group])}: the offset is {odd} after "
        f"{frame_words(first.frame)}, but {usual} in the other layers. The layers no longer agree "
        "on which slot belongs to which frame. Look at what increments the offset, and at this "
        "layer's writes in the cache map."
    )
    frame, cache = first.frame.id, first.cache.id
    words = f"the offset is {odd} after {frame_words(first.frame)}, {usual} in the other layers"
    chain = [Link(words, frame=frame, cache=cache, slot=min(odd, usual))]
    return finding_of("offset-skew", group, message, chain=chain)


def _jump(step: Step, group: list[Sighting]) -> Finding:
    moved = step.offset - step.before
    codec = step.cache.model == "mimi"
    again = codec and moved < 0 and step.offset == step.should_write
    if again:
        kind, follows = "codec-state-reset", "What the frames before left is lost"
        look = "who makes a new Mimi state while a latent is decoded"
    else:
        kind = "codec-step-mismatch" if codec else "offset-jump"
        gap = moved > step.should_write
        follows = (
            "The slots in between were never written"
            if gap
            else "What was written before is overwritten"
        )
        look = "increment_steps and mimi_steps_per_latent" if codec else "increment_step"
    message = (
        f"{layers_words([seen.cache for seen in group])}: {frame_words(step.frame)} moved the "
        f"offset by {moved}, from {step.before} to {step.offset}, but writes {step.should_write}"
        f"{': it began again at slot 0' if again else ''}. "
        f"{follows}. Look at {look} and at where the frame wrote, in the cache map."
    )
    return finding_of(kind, group, message, chain=_jump_chain(step))


def _jump_chain(step: Step) -> list[Link]:
    frame, cache = step.frame.id, step.cache.id
    chain = []
    if step.found is not None and step.found != step.before:
        words = (
            f"{frame_words(step.frame)} found the offset at {step.found}, but the step before had "
            f"left it at {step.before}: it was changed in between"
        )
        chain.append(Link(words, frame=frame, cache=cache, slot=min(step.found, step.before)))
    words = f"{frame_words(step.frame)} moved the offset from {step.before} to {step.offset}"
    return [*chain, Link(words, frame=frame, cache=cache, slot=min(step.before, step.offset))]
