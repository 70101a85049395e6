"""Reads a recording, whole or while another process is still writing it.

recording = Recording.open("run.kvrec")
for frame in recording.frames:
    for cache in recording.caches:
        print(frame.title, cache.name, recording.slots(cache, frame.id).offset)
recording.refresh()   # new frames, if the run goes on
"""

import platform
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from kvstudio.recording.errors import DamagedRecording, RecordingError, SpecError
from kvstudio.recording.evidence_table import Evidence
from kvstudio.recording.opening import connect, is_alive, reading
from kvstudio.recording.ops import OpTable
from kvstudio.recording.parsing import (
    read_caches,
    read_chunks,
    read_facts,
    read_frames,
    require_chunks,
)
from kvstudio.recording.rows import (
    Cache,
    CacheState,
    Chunk,
    Expansion,
    Floats,
    Frame,
    LogLine,
    TensorState,
)
from kvstudio.recording.settling import fold_log
from kvstudio.recording.slots import SlotHistory, SlotMap, Write
from kvstudio.recording.spec import RunSpec
from kvstudio.recording.typed import from_row


class Recording:
    """A recording open for reading. Not for use from two threads at once.

    Attributes:
        frames, chunks, caches: all rows so far, in order; `frames[i].id == i`.
        ops: the ops; call `ops.refresh()` (cheap) before asking, as `refresh` leaves them alone.
        evidence: what the run left for the checks.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.frames: list[Frame] = []
        self.chunks: list[Chunk] = []
        self.caches: list[Cache] = []
        self._connect()
        try:
            self.refresh()
        except RecordingError:
            self._connection.close()
            raise

    @classmethod
    def open(cls, path: str | Path) -> "Recording":
        """Raises RecordingError in its several kinds, see `errors`."""
        return cls(path)

    def close(self) -> None:
        self._connection.close()
        if self.status != "recording":
            fold_log(self.path)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()

    def refresh(self) -> range:
        """Takes in what was added; the ids of the new frames."""
        with self._reading():
            before = len(self.frames)
            self.facts = read_facts(self._connection)
            self.caches += read_caches(self._connection, len(self.caches))
            # Frames first: a chunk is written before its frames, so every frame finds its chunk.
            frames = read_frames(self._connection, before)
            self.chunks = read_chunks(self._connection)
            require_chunks(frames, len(self.chunks))
            self.frames += frames
            self._phases.update({f.id: f.phase for f in self.frames[before:]})
            self._chunk_of.update({f.id: f.chunk for f in self.frames[before:]})
            self._history.refresh(self._chunk_of)
            return range(before, len(self.frames))

    def settle(self) -> bool:
        """Once the run is over, folds the write-ahead log away so that one file is left.

        Returns:
            Whether there is one file now. If not, because somebody else has it open at the moment,
            closing tries again.
        """
        if self.status == "recording":
            return False
        self._connection.close()
        settled = fold_log(self.path)
        self._connect()
        self.refresh()
        return settled

    # ---- the run as a whole -------------------------------------------------------------------

    @property
    def spec(self) -> RunSpec:
        try:
            return RunSpec.from_json(self.facts.spec_json)
        except SpecError as error:
            raise DamagedRecording(self.path, f"has no run spec to read: {error}") from error

    @property
    def live(self) -> bool:
        """Whether somebody is still writing, as far as can be told from here."""
        if self.facts.status != "recording":
            return False
        return self.facts.host != platform.node() or is_alive(self.facts.pid)

    @property
    def status(self) -> str:
        """recording, finished, stopped, failed, or interrupted (the writer died)."""
        interrupted = self.facts.status == "recording" and not self.live
        return "interrupted" if interrupted else self.facts.status

    def logs(self, after: int = 0) -> list[LogLine]:
        """What the model printed, from line number `after` on."""
        rows = self._rows("SELECT at, stream, text FROM log WHERE id > ? ORDER BY id", after)
        with self._reading():
            return [from_row(LogLine, row) for row in rows]

    # ---- caches -------------------------------------------------------------------------------

    def cache_states(self, frame: int) -> dict[int, CacheState]:
        """Offset and capacity of each cache after a frame, by cache id."""
        rows = self._rows(
            "SELECT cache, offset, capacity, nan_slots, found FROM cache_state WHERE frame = ?",
            frame,
        )
        with self._reading():
            return {row[0]: from_row(CacheState, row) for row in rows}

    def slots(self, cache: Cache, frame: int) -> SlotMap:
        """Roles and writing frames of every slot after a frame; capacity 0 if it has none yet."""
        return self.slot_maps(frame, [cache])[0]

    def slot_maps(self, frame: int, caches: list[Cache] | None = None) -> list[SlotMap]:
        """The slot map of each cache (default: all) after a frame."""
        states = self.cache_states(frame)
        chain = self.chain(frame)
        with self._reading():
            result = []
            for cache in self.caches if caches is None else caches:
                state = states.get(cache.id, CacheState(cache.id, None, 0, 0))
                here = chain if cache.model == "flow_lm" else chain[-1:]
                found = self._history.map(
                    cache, here, frame, self._phases, state.offset, state.capacity
                )
                result.append(found)
            return result

    def values(self, cache: Cache, frame: int) -> Floats:
        """`[2, B, T, H, D]` after a frame; NaN where nothing was written."""
        state = self.cache_states(frame).get(cache.id)
        chain = self.chain(frame)
        with self._reading():
            here = chain if cache.model == "flow_lm" else chain[-1:]
            return self._history.values(cache, here, frame, state.capacity if state else 0)

    def writes(self, cache: Cache, frame: int) -> list[Write]:
        """Every write to a cache up to a frame, oldest first."""
        chain = self.chain(frame) if cache.model == "flow_lm" else self.chain(frame)[-1:]
        return [write for c in chain for write in self._history.writes(cache, c.id, frame)]

    def frame_writes(self, frame: int) -> list[Write]:
        """Every write of one frame, to whatever cache."""
        return self._history.of_frame(frame)

    def written_values(self, cache: Cache, first: int, last: int) -> list[tuple[Write, Floats]]:
        """The writes of some frames, with values `[2, B, slots, H, D]`."""
        with self._reading():
            return list(self._history.deltas(cache, first, last))

    def values_before_expansion(self, cache: Cache, chunk: int) -> Floats | None:
        """What the cache held when the chunk began, if a snapshot was taken."""
        with self._reading():
            return self._history.base_values(cache, self.chunks[chunk])

    def base_offsets(self, chunk: int) -> dict[int, int]:
        """The offset of each FlowLM cache when the chunk began, by cache id."""
        rows = self._rows("SELECT cache, offset FROM chunk_base WHERE chunk = ?", chunk)
        with self._reading():
            return {int(cache): int(offset) for cache, offset in rows}

    def expansions(self, chunk: int | None = None) -> list[Expansion]:
        rows = self._rows(
            "SELECT * FROM expansion WHERE chunk = ifnull(?, chunk) ORDER BY chunk, cache", chunk
        )
        with self._reading():
            return [from_row(Expansion, row) for row in rows]

    def chain(self, frame: int) -> list[Chunk]:
        """The frame's chunk, preceded by the chunks whose state it continues, oldest first."""
        chain = [self.chunks[self.frames[frame].chunk]]
        while chain[0].continues is not None:
            chain.insert(0, self.chunks[chain[0].continues])
        return chain

    # ---- frames -------------------------------------------------------------------------------

    def tensors(self, frame: int, *, changed: bool = False) -> list[TensorState]:
        """Every tensor of the streaming state after a frame, or only those that it changed."""
        latest = "(SELECT max(frame) FROM tensor_state WHERE tensor = t.id AND frame <= ?1)"
        rows = self._rows(
            "SELECT t.model, t.entry, t.key, s.shape, s.dtype, s.device, s.nan_count, s.value, "
            "s.storage, s.frame = ?1 FROM tensor t CROSS JOIN tensor_state s ON s.tensor = t.id "
            f"AND s.frame = {'?1' if changed else latest} ORDER BY t.id",
            frame,
        )
        with self._reading():
            return [from_row(TensorState, row) for row in rows]

    def op_counts(self) -> dict[tuple[int, int], int]:
        """How many ops were seen, by frame and part (see `schema.PARTS`)."""
        rows = self._rows("SELECT frame, part, count(*) FROM op GROUP BY frame, part")
        with self._reading():
            return {(int(frame), int(part)): count for frame, part, count in rows}

    def latent(self, frame: int) -> Floats | None:
        rows = self._rows('SELECT "values" FROM latent WHERE frame = ?', frame)
        with self._reading():
            return np.frombuffer(rows[0][0], "<f4") if rows else None

    def audio_frames(self, after: int = -1) -> Iterator[tuple[int, int, Floats]]:
        """(frame, first sample, samples) of every frame in `frames` that has audio, after one."""
        query = "SELECT * FROM audio WHERE frame > ? AND frame < ? ORDER BY frame"
        rows = self._rows(query, after, len(self.frames))
        with self._reading():
            for frame, first, raw in rows:
                yield frame, int(first), np.frombuffer(raw, "<f4")

    def frame_audio(self, frame: int) -> tuple[int, Floats] | None:
        """First sample and samples of a frame, if it has audio."""
        rows = self._rows("SELECT first_sample, samples FROM audio WHERE frame = ?", frame)
        with self._reading():
            return (int(rows[0][0]), np.frombuffer(rows[0][1], "<f4")) if rows else None

    def audio(self) -> Floats:
        """All samples so far, one after another."""
        return np.concatenate([np.zeros(0, np.float32), *(s for _, _, s in self.audio_frames())])

    def source(self, file: str) -> str | None:
        """The text of a source file that a site names, as it was during the run."""
        rows = self._rows("SELECT text FROM source WHERE file = ?", file)
        return str(rows[0][0]) if rows else None

    # ---- private ------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._connection = connect(self.path)
        forgotten = weakref.finalize(self, self._connection.close)  # is no open file
        # Not at the end of the program: a thread may still be reading, and SQLite would crash.
        forgotten.atexit = False
        self.ops = OpTable(self._connection, self.path)
        self.evidence = Evidence(self._connection, self.path)
        self._history = SlotHistory(self._connection)
        self._phases: dict[int, str] = {f.id: f.phase for f in self.frames}
        self._chunk_of: dict[int, int] = {f.id: f.chunk for f in self.frames}

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with reading(self.path):
            yield

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._reading():
            return self._connection.execute(query, values).fetchall()
