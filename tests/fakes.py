"""A recording made of numpy alone, shaped like a run of the demo model, for tests without torch.

The numbers are made up, so they prove nothing about a model; they prove what readers and panels do
with a recording. `FakeRun` writes it frame by frame, as an engine would.
"""

from pathlib import Path
from typing import Any

import numpy as np

from kvstudio.recording.evidence import Attention
from kvstudio.recording.rows import (
    Base,
    Cache,
    CacheState,
    Chunk,
    Expansion,
    Floats,
    Frame,
    FrameRecord,
    Op,
    SlotDelta,
    TensorState,
    Touch,
)
from kvstudio.recording.spec import RunSpec
from kvstudio.recording.writer import RecordingWriter

SAMPLE_RATE = 24000
FRAME_SAMPLES = 1920
VERSIONS = {"python": "3.11.7", "torch": "2.13.0", "pocket_tts": "4.0.1", "kvstudio": "0.2.0"}
MODULE = "flow_lm.transformer.layers.{}.self_attn"
FILE = "pocket_tts/modules/attention.py"
SOURCE = "\n".join(f"line {number} of attention.py" for number in range(1, 200))


class FakeRun:
    """Writes a recording: `voice` slots, then per chunk a text prefill and decode steps."""

    def __init__(
        self,
        path: Path,
        *,
        layers: int = 2,
        heads: int = 2,
        dim: int = 8,
        voice: int = 5,
        text: int = 6,
        room: int = 12,
        mimi_steps: int = 4,
        spec: RunSpec | None = None,
        ops_per_frame: int = 20,
        encoder: int = 0,
    ) -> None:
        self.path, self.voice, self.text, self.room = path, voice, text, room
        self.mimi_steps, self.ops_per_frame = mimi_steps, ops_per_frame
        self.random = np.random.default_rng(7)
        self.writer = RecordingWriter(path, spec or RunSpec(), VERSIONS)
        self.writer.set_facts(sample_rate=SAMPLE_RATE, frame_rate=12.5, model={"name": "fake"})
        self.writer.add_source(FILE, SOURCE)
        self.flow = [self._cache("flow_lm", n, heads, dim, None) for n in range(layers)]
        self.mimi = [self._cache("mimi", 0, heads, dim, 16)]
        self.encoder = [self._cache("mimi", n, heads, dim, 16, "en") for n in range(encoder)]
        self.base = {cache.id: self._slots(cache, voice) for cache in self.flow}
        self.frame = self.chunk = -1
        self.offset = self.capacity = self.mimi_offset = 0
        self.step = -1
        self.evidence: dict[str, Any] = {}
        """Further fields of the next `FrameRecord`: misuses, attentions, surprises, fed."""

    def begin_chunk(self, text: str = "Hello world.", *, continues: int | None = None) -> None:
        """Adds a chunk; the first one also adds the voice prefill as frame 0."""
        self.chunk += 1
        self.step = -1
        current_end = self.voice if continues is None else self.offset
        required = current_end + self.text + self.room
        before = self.voice if continues is None else self.capacity
        self.offset, self.capacity, self.mimi_offset = current_end, required, 0
        chunk = Chunk(
            id=self.chunk,
            text=text,
            tokens=tuple((n, letter) for n, letter in enumerate(text[: self.text])),
            current_end=current_end,
            token_count=self.text,
            max_gen_len=self.room,
            required_len=required,
            capacity_before=before,
            capacity_after=required,
            continues=continues,
            mimi_steps=self.mimi_steps,
            started_at=1000.0 + self.chunk,
        )
        bases = [
            Base(c.id, current_end, self.base[c.id] if continues is None else None)
            for c in self.flow
        ]
        grown = [
            Expansion(self.chunk, c.id, before, required, None, None, "nan") for c in self.flow
        ]
        self.writer.begin_chunk(chunk, bases, grown)
        if self.chunk == 0:
            self._add("voice", [CacheState(c.id, self.voice, self.voice, 0) for c in self.flow], [])

    def prefill(self) -> None:
        deltas = [self._delta(c, self.offset, self.text) for c in self.flow]
        self.offset += self.text
        self._add("text", self._flow_states(), deltas, ops=self._ops(1, deltas))

    def decode(self, *, eos: bool = False, nan: bool = False, decoded: bool = True) -> None:
        """One decode step: a slot per FlowLM layer, Mimi slots, a latent and 80 ms of a tone.

        Without `decoded` Mimi never gets the latent, as the last one of a run.
        """
        self.step += 1
        deltas = [self._delta(c, self.offset, 1, nan=nan) for c in self.flow]
        self.offset += 1
        states = self._flow_states()
        if decoded:
            deltas += [self._delta(c, self.mimi_offset, self.mimi_steps) for c in self.mimi]
            self.mimi_offset += self.mimi_steps
            states += self._mimi_states()
        times = (np.arange(FRAME_SAMPLES) + self.step * FRAME_SAMPLES) / SAMPLE_RATE
        audio = (0.3 * np.sin(2 * np.pi * 220 * times)).astype(np.float32)
        self._add(
            "decode",
            states,
            deltas,
            ops=self._ops(self.ops_per_frame, deltas, nan=nan),
            audio=None if not decoded else np.full_like(audio, np.nan) if nan else audio,
            latent=self.random.standard_normal(8).astype(np.float32),
            logit=2.0 if eos else -6.0 + self.step * 0.2,
            eos=eos,
        )

    def run(self, frames: int = 8) -> None:
        """A whole run of one chunk, ended by EOS and closed."""
        self.begin_chunk()
        self.prefill()
        for step in range(frames):
            self.decode(eos=step == frames - 1)
        self.writer.finish("finished", "EOS")

    # ---- private ------------------------------------------------------------------------------

    def _cache(
        self, model: str, layer: int, heads: int, dim: int, context: int | None, part: str = "de"
    ) -> Cache:
        prefix = "" if model == "flow_lm" else f"{part}coder_transformer."
        return self.writer.add_cache(
            model=model,
            name=f"{prefix}transformer.layers.{layer}.self_attn",
            layer=layer,
            batch=1,
            heads=heads,
            dim=dim,
            context=context,
            weight_dtype="float32",
            weight_device="cpu",
        )

    def _slots(self, cache: Cache, slots: int) -> Floats:
        shape = (2, 1, slots, cache.heads, cache.dim)
        return self.random.standard_normal(shape).astype(np.float32)

    def _delta(self, cache: Cache, first: int, slots: int, *, nan: bool = False) -> SlotDelta:
        values = self._slots(cache, slots)
        if nan and cache.layer > 0:
            values[:] = np.nan
        return SlotDelta(cache.id, first, first + slots, values)

    def _flow_states(self) -> list[CacheState]:
        empty = self.capacity - self.offset
        return [CacheState(c.id, self.offset, self.capacity, empty) for c in self.flow]

    def _mimi_states(self) -> list[CacheState]:
        capacity = self.room * self.mimi_steps
        empty = capacity - self.mimi_offset
        states = [CacheState(c.id, self.mimi_offset, capacity, empty) for c in self.mimi]
        return states + [
            CacheState(c.id, self.mimi_offset, capacity, capacity) for c in self.encoder
        ]

    def _ops(self, count: int, deltas: list[SlotDelta], *, nan: bool = False) -> list[Op]:
        ops = []
        for number in range(count):
            delta = deltas[number % len(deltas)]
            write = number % 2 == 0
            first, last = (delta.first, delta.last) if write else (0, delta.last)
            ops.append(
                Op(
                    name="aten.copy_.default" if write else "aten.matmul.default",
                    part=2 if delta.cache < len(self.flow) else 3,
                    module=MODULE.format(delta.cache),
                    site=(FILE, 10 + number % 50, "complete_kv" if write else "forward"),
                    arguments=f"f32[1,{last},2,8], f32[1,1,2,8]",
                    results=f"f32[1,{last},2,8]",
                    thread="Thread-1",
                    began_ns=number * 1000,
                    took_ns=500 + number,
                    nan_in=int(nan),
                    nan_out=int(nan),
                    touches=[Touch(delta.cache, number % 3, first, last, write)],
                )
            )
        return ops

    def _attentions(self, deltas: list[SlotDelta]) -> list[Attention]:
        """Each cache that was written is attended to as it should be."""
        rows = []
        for each in deltas:
            context = (self.flow + self.mimi)[each.cache].context
            oldest = 0 if context is None else max(0, each.last - context)
            rows.append(
                Attention(
                    op=0,
                    cache=each.cache,
                    queries=each.last - each.first,
                    keys=each.last,
                    position=each.first,
                    slot=each.first,
                    rope=each.first,
                    oldest=oldest,
                    newest=each.last - 1,
                    attended=each.last - oldest,
                    future=0,
                    outside=0,
                    missing=0,
                )
            )
        return rows

    def _tensors(self) -> list[TensorState]:
        tensors = []
        for cache in self.flow:
            shape = f"[2, 1, {self.capacity}, {cache.heads}, {cache.dim}]"
            empty = self.capacity - self.offset
            tensors.append(
                TensorState(
                    "flow_lm", cache.name, "cache", shape, "float32", "cpu", empty, "", self.chunk
                )
            )
            tensors.append(
                TensorState(
                    "flow_lm", cache.name, "offset", "[1]", "int64", "cpu", 0, str(self.offset), 0
                )
            )
        return tensors

    def _add(
        self,
        phase: str,
        states: list[CacheState],
        deltas: list[SlotDelta],
        *,
        ops: list[Op] | None = None,
        audio: Floats | None = None,
        latent: Floats | None = None,
        logit: float | None = None,
        eos: bool = False,
    ) -> None:
        self.frame += 1
        frame = Frame(
            id=self.frame,
            chunk=self.chunk,
            phase=phase,  # type: ignore[arg-type]  # three literals above
            step=self.step,
            stop_logit=logit,
            stop_threshold=None if logit is None else 0.0,
            eos=eos,
            op_count=len(ops or []),
            flow_lm_ns=30_000_000,
            mimi_ns=12_000_000 if audio is not None else 0,
            began_ns=self.frame * 50_000_000,
        )
        self.writer.add_frame(
            FrameRecord(
                frame=frame,
                cache_states=states,
                deltas=deltas,
                tensors=self._tensors(),
                ops=ops or [],
                latent=latent,
                audio=audio,
                **{"attentions": self._attentions(deltas) if ops else (), **self.evidence},
            )
        )
        self.evidence = {}
