"""Keeps the book of `_generate` calls: the sum that sizes their caches, what they begin with."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from kvstudio.engine import pocket
from kvstudio.engine.contents import slot_values
from kvstudio.engine.expansion import caches_of
from kvstudio.engine.frames import Numbering
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.recording.rows import Base, Cache, Chunk, Expansion
from kvstudio.recording.writer import RecordingWriter


class ChunkBook:
    """Writes one `Chunk` a `_generate` call, corrected as more of it becomes known."""

    def __init__(
        self,
        tts: pocket.TTS,
        writer: RecordingWriter,
        rows: Mapping[str, Cache],
        *,
        keep_values: bool,
        numbering: Numbering | None = None,
    ) -> None:
        self._tts, self._writer, self._rows = tts, writer, rows
        self._numbering = numbering or Numbering()
        self._keep_values = keep_values
        self._text, self._token_count = "", 0
        self._state: ModelState | None = None
        self._chunk: Chunk | None = None
        self._bases: list[Base] = []

    @property
    def current(self) -> Chunk:
        assert self._chunk is not None, "no chunk has begun"
        return self._chunk

    def next_text(self, text: str, tokens: int) -> None:
        """The text of the chunk that is about to begin."""
        self._text, self._token_count = text, tokens

    def begin(self, state: ModelState, required_len: int | None) -> Chunk:
        """Opens a chunk on `state`; `required_len` is what `_expand_kv_cache` is asked for."""
        continues = self._chunk.id if self._chunk and state is self._state else None
        current_end, capacity = _position(state)
        # Without a cache it is Mimi alone that runs, for as long as somebody has latents.
        frames = pocket.max_gen_len(self._tts, self._token_count) if caches_of(state) else 0
        self._chunk = Chunk(
            id=self._numbering.chunk,
            text=self._text,
            tokens=(),
            current_end=current_end,
            token_count=self._token_count,
            max_gen_len=frames,
            required_len=capacity if required_len is None else required_len,
            capacity_before=capacity,
            capacity_after=capacity,
            continues=continues,
            mimi_steps=pocket.mimi_steps_per_latent(self._tts),
            started_at=time.time(),
        )
        self._state = state
        self._bases = self._bases_of(state, continues)
        self._writer.begin_chunk(self._chunk, self._bases)
        self._numbering.chunk += 1
        return self._chunk

    def expanded(self, state: ModelState, expansions: Sequence[Expansion]) -> None:
        """The caches have been grown, or not."""
        self._correct(replace(self.current, capacity_after=_position(state)[1]), expansions)

    def tokens(self, tokens: torch.Tensor) -> None:
        """The text tokens `[1, n]` that are fed to the model now."""
        ids = [int(number) for number in tokens.detach().reshape(-1).tolist()]
        pieces = pocket.token_pieces(self._tts, ids)
        self._correct(replace(self.current, tokens=pieces, token_count=len(ids)))

    # ---- private ------------------------------------------------------------------------------

    def _correct(self, chunk: Chunk, expansions: Sequence[Expansion] = ()) -> None:
        self._chunk = chunk
        self._writer.begin_chunk(chunk, (), expansions)

    def _bases_of(self, state: ModelState, continues: int | None) -> list[Base]:
        bases = []
        for name, cache in caches_of(state).items():
            if name not in self._rows:
                continue
            values = None
            if continues is None and self._keep_values:
                values = slot_values(cache, 0, cache.shape[2])
            bases.append(Base(self._rows[name].id, offset_of(state[name]) or 0, values))
        return bases


def _position(state: ModelState) -> tuple[int, int]:
    """(offset, capacity) of the first cache, which is the one that pocket-tts goes by."""
    for name, cache in caches_of(state).items():
        return offset_of(state[name]) or 0, int(cache.shape[2])
    return 0, 0


def register_caches(tts: pocket.TTS, writer: RecordingWriter) -> dict[str, dict[str, Cache]]:
    """Every cache of the model as a row of the recording, by model and state key."""
    rows: dict[str, dict[str, Cache]] = {"flow_lm": {}, "mimi": {}}
    for cache in pocket.cache_rows(tts):
        described = {name: value for name, value in vars(cache).items() if name != "id"}
        rows[cache.model][cache.name] = writer.add_cache(**described)
    return rows
