"""The length ledger: the sum that sizes the caches of each chunk, held against what they became.

current_end + token_count + max_gen_len = required_len <= capacity
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from kvstudio.analysis.finding import layers_words, within
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, CacheState, Chunk, Frame

TOKENS_PER_SECOND, SECONDS_BEYOND = 3.0, 2.0
"""How pocket-tts estimates the length of what it will say from the tokens of its text."""


@dataclass(frozen=True)
class LedgerRow:
    """One chunk at one frame. Slots are counted per FlowLM layer.

    Attributes:
        begun: whether the chunk's caches have been sized; before, only the sum is known.
        expanded: whether they had been at the frame.
        used: slots in use at the frame, or None if the chunk begins later.
        capacity: slots there were at the frame; the final capacity if the chunk begins later.
        frames: decode steps done at the frame, of at most `chunk.max_gen_len`.
        problems: what does not add up, in words; empty if all does.
    """

    chunk: Chunk
    begun: bool
    expanded: bool
    used: int | None
    capacity: int
    frames: int
    problems: tuple[str, ...]

    @property
    def total(self) -> int:
        """What `required_len` should be."""
        return self.chunk.current_end + self.chunk.token_count + self.chunk.max_gen_len

    @property
    def left(self) -> int | None:
        """Slots still free at the frame; below zero if the offset ran past the capacity."""
        return None if self.used is None else self.capacity - self.used

    @property
    def passed(self) -> bool:
        return not self.problems


def ledger(recording: Recording, frame: int | None) -> list[LedgerRow]:
    """One row per chunk, as things stood after `frame` (None: before the first frame)."""
    return [ledger_row(recording, chunk, frame) for chunk in recording.chunks]


def ledger_row(recording: Recording, chunk: Chunk, frame: int | None) -> LedgerRow:
    frames = frames_of(recording, chunk)
    until = [each for each in frames if frame is not None and each.id <= frame]
    states = recording.cache_states(until[-1].id) if until else {}
    here = [
        (cache, states[cache.id])
        for cache in recording.caches
        if cache.model == "flow_lm" and cache.id in states
    ]
    begun = has_begun(frames)
    problems = [*(_sum_problems(chunk) if begun else ()), *_offset_problems(here)]
    return LedgerRow(
        chunk=chunk,
        begun=begun,
        expanded=has_begun(until),
        used=max((state.offset or 0 for _, state in here), default=None),
        capacity=min((state.capacity for _, state in here), default=chunk.capacity_after),
        frames=sum(each.phase == "decode" for each in until),
        problems=tuple(problems),
    )


def usual_max_gen_len(token_count: int, frame_rate: float) -> int:
    """Frames that pocket-tts allows for so many tokens, unless it was changed."""
    if not math.isfinite(frame_rate):
        return 0
    return math.ceil((token_count / TOKENS_PER_SECOND + SECONDS_BEYOND) * frame_rate)


def frames_of(recording: Recording, chunk: Chunk) -> list[Frame]:
    """The frames of a chunk so far; they lie side by side."""
    first = bisect_left(recording.frames, chunk.id, key=lambda each: each.chunk)
    last = bisect_right(recording.frames, chunk.id, key=lambda each: each.chunk)
    return recording.frames[first:last]


def has_begun(frames: Sequence[Frame]) -> bool:
    """Whether the chunk's caches have been sized: that is the first thing of its text prefill."""
    return any(each.phase != "voice" for each in frames)


def _sum_problems(chunk: Chunk) -> list[str]:
    total = chunk.current_end + chunk.token_count + chunk.max_gen_len
    problems = []
    # A model that never asks for a length has its capacity for required_len.
    if total != chunk.required_len and chunk.required_len != chunk.capacity_before:
        problems.append(f"the sum is {total}, but required_len is {chunk.required_len}")
    needed = max(total, chunk.required_len)
    if chunk.capacity_after < needed:
        problems.append(
            f"capacity is {chunk.capacity_after} after the expansion, "
            f"{needed - chunk.capacity_after} short of the {needed} the chunk may need"
        )
    return problems


def _offset_problems(states: Sequence[tuple[Cache, CacheState]]) -> list[str]:
    """What is the same in several layers is said once."""
    past: dict[tuple[int, int], list[Cache]] = {}
    for cache, state in states:
        if state.offset is not None and state.offset > state.capacity:
            past.setdefault((state.offset, state.capacity), []).append(cache)
    return [
        f"the offset {offset} of {within(layers_words(caches))} is past the capacity {capacity}"
        for (offset, capacity), caches in past.items()
    ]
