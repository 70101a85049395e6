"""The book of chunks of one state that a script drives, among those of other states."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from kvstudio.engine.chunks import ChunkBook
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.recording.evidence import Surprise
from kvstudio.recording.rows import Base, Cache, Chunk


class ScriptBook(ChunkBook):
    """Like `ChunkBook`, written by several threads.

    Args:
        lock: of all books of the recording.

    Attributes:
        call_begins: whether the next chunk is the first of another `generate_audio` call.
        spoken: slots of an earlier call that the chunk begins with.
    """

    def __init__(self, *args: Any, lock: threading.RLock, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock = lock
        self.call_begins = False
        self.spoken: list[Surprise] = []
        self._voice_end = 0

    @property
    def has_begun(self) -> bool:
        return self._chunk is not None

    def begin(self, state: ModelState, required_len: int | None) -> Chunk:
        with self._lock:
            chunk = super().begin(state, required_len)
        if chunk.continues is None:
            self._voice_end = chunk.current_end
        first, last = self._voice_end, chunk.current_end
        again = self.call_begins and last > first and self._keep_values
        self.spoken = [
            Surprise("flow_lm", name, "cache", "spoken", first, last)
            for name in (self._rows if again else ())
        ]
        self.call_begins = False
        self.next_text("", 0)  # a script may go on without preparing another
        return chunk

    def tokens(self, tokens: torch.Tensor) -> None:
        prepared = self.current.token_count == tokens.shape[-1]
        super().tokens(tokens)
        if not (prepared and self.current.text):
            pieces = "".join(piece for _, piece in self.current.tokens)
            self._correct(replace(self.current, text=pieces.replace("▁", " ").strip()))

    def resume(self, state: ModelState, bases: Sequence[Base], done: int) -> None:
        """Goes on in a new chunk, since frames of another state's came between.

        Args:
            state: of FlowLM.
            bases: where the caches of FlowLM and Mimi stood before the next frame.
            done: decode steps of the chunk so far.
        """
        with self._lock:
            before = self.current
            self.next_text(before.text, 0)
            self.begin(state, None)
            left = max(0, before.max_gen_len - done)
            self._chunk = replace(self.current, max_gen_len=left)
            self._writer.begin_chunk(self._chunk, bases)

    @staticmethod
    def bases_without_values(state: ModelState, rows: Mapping[str, Cache]) -> list[Base]:
        """Where caches stand."""
        return [
            Base(row.id, offset_of(state[name]) or 0, None)
            for name, row in rows.items()
            if "cache" in state.get(name, {})
        ]
