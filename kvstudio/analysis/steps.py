"""Walks through a run cache by cache: where each frame found the offset and where it left it."""

from collections.abc import Iterator
from dataclasses import dataclass

from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, CacheState, Chunk, Frame


@dataclass(frozen=True)
class Step:
    """What one frame did to one cache.

    Attributes:
        before: the offset that the frame found.
        offset: the offset that it left.
        nan_slots: slots with NaN in K or V that it left, wherever they are.
        should_write: slots that such a frame writes, from `before` on.
    """

    frame: Frame
    chunk: Chunk
    cache: Cache
    before: int
    offset: int
    capacity: int
    nan_slots: int
    should_write: int


def steps(recording: Recording) -> Iterator[Step]:
    """Every prefill of text and every decode step, for every cache that it writes, in order.

    Left out as normal: the caches of Mimi's encoder, whose offset moves while decoding
    though nothing is written to them; and Mimi in a frame that was not decoded, as the last one of
    a chunk is not that ends by EOS.
    """
    heard = {frame for frame, _, _ in recording.audio_frames()}
    offsets: dict[int, int] = {}
    chunk: Chunk | None = None
    caches = [cache for cache in recording.caches if not is_encoder(cache)]
    for frame in recording.frames:
        if chunk is None or frame.chunk != chunk.id:
            chunk = recording.chunks[frame.chunk]
            offsets = recording.base_offsets(chunk.id)  # Mimi begins at 0
        if frame.phase == "voice":
            continue
        states = recording.cache_states(frame.id)
        for cache in caches:
            if cache.model == "mimi" and frame.id not in heard:
                continue
            step = _step(frame, chunk, cache, states.get(cache.id), offsets.get(cache.id, 0))
            if step is not None:
                offsets[cache.id] = step.offset
                yield step


def is_encoder(cache: Cache) -> bool:
    return cache.model == "mimi" and cache.name.startswith("encoder")


def _step(
    frame: Frame, chunk: Chunk, cache: Cache, state: CacheState | None, before: int
) -> Step | None:
    if state is None or state.offset is None:
        return None
    if cache.model == "mimi":
        should_write = chunk.mimi_steps
    else:
        should_write = chunk.token_count if frame.phase == "text" else 1
    return Step(
        frame=frame,
        chunk=chunk,
        cache=cache,
        before=before,
        offset=state.offset,
        capacity=state.capacity,
        nan_slots=state.nan_slots,
        should_write=should_write,
    )
