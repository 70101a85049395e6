"""What each frame did to each cache: where it found the offset and where it left it."""

from dataclasses import dataclass

from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, CacheState, Chunk, Frame


@dataclass(frozen=True)
class Step:
    """What one frame did to one cache.

    Attributes:
        before: the offset that the frame before left.
        found: the offset that the frame found; None if that was not seen.
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
    found: int | None = None


class StepWalker:
    """Follows the offsets of a run frame by frame.

    Left out as normal: the caches of Mimi's encoder, whose offset moves while decoding
    though nothing is written to them; and Mimi in a frame that was not decoded, as the last one of
    a chunk is not that ends by EOS.
    """

    def __init__(self) -> None:
        self._chunk: int | None = None
        self._offsets: dict[int, int] = {}

    def steps(
        self, recording: Recording, frame: Frame, states: dict[int, CacheState], samples: int
    ) -> tuple[Step, ...]:
        """What the next frame did to every cache that it should write; none for the voice.

        `states`: every cache after the frame; `samples`: of its audio, which tell how many latents
        were decoded in it.
        """
        latents = _latents(recording, samples)
        chunk = recording.chunks[frame.chunk]
        if chunk.id != self._chunk:
            self._chunk = chunk.id
            self._offsets = recording.base_offsets(chunk.id)  # Mimi begins at 0
        if frame.phase == "voice":
            return ()
        found = []
        for cache in recording.caches:
            if is_encoder(cache) or (cache.model == "mimi" and not latents):
                continue
            before = self._offsets.get(cache.id, 0)
            step = _step(frame, chunk, cache, states.get(cache.id), before, latents)
            if step is not None:
                self._offsets[cache.id] = step.offset
                found.append(step)
        return tuple(found)


def is_encoder(cache: Cache) -> bool:
    return cache.model == "mimi" and cache.name.startswith("encoder")


def _latents(recording: Recording, samples: int) -> int:
    """How many latents so many samples were decoded from: usually one, none without samples."""
    facts = recording.facts
    return max(1, round(samples * facts.frame_rate / facts.sample_rate)) if samples else 0


def _step(
    frame: Frame,
    chunk: Chunk,
    cache: Cache,
    state: CacheState | None,
    before: int,
    latents: int,
) -> Step | None:
    if state is None or state.offset is None:
        return None
    if cache.model == "mimi":
        should_write = chunk.mimi_steps * latents
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
        found=state.found,
    )
