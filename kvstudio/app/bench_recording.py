"""A recording of the size that the window must stay quick with, made of random numbers.

It measures the window, not a model: 24 layers of 1,000 slots, with as many ops and as much audio
per frame as a run of the largest model leaves.
"""

from pathlib import Path

import numpy as np

from kvstudio.recording.rows import (
    Base,
    Cache,
    CacheState,
    Chunk,
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

LAYERS, SLOTS, HEADS, DIM = 24, 1000, 16, 64
MIMI_LAYERS, MIMI_STEPS, MIMI_HEADS = 2, 16, 8
VOICE, TOKENS = 850, 50
OPS, SAMPLES, LATENT = 1100, 1920, 32
FILE = "modules/attention.py"


def write_bench_recording(path: Path, frames: int) -> None:
    """A finished run of `frames` decode steps near the end of full caches."""
    run = _Run(path)
    run.begin()
    run.add("text", TOKENS)
    for step in range(frames):
        run.add("decode", 1, step)
    run.writer.finish("finished", "EOS")


class _Run:
    def __init__(self, path: Path) -> None:
        self.writer = RecordingWriter(path, RunSpec(text="a" * TOKENS), {})
        self._random = np.random.default_rng(0)
        self.flow = [self._cache("flow_lm", "", n, HEADS, None) for n in range(LAYERS)]
        prefix = "decoder_transformer."
        self.mimi = [self._cache("mimi", prefix, n, MIMI_HEADS, 250) for n in range(MIMI_LAYERS)]
        self._frame = 0
        self._offset = VOICE
        self._mimi_offset = 0

    def begin(self) -> None:
        room = SLOTS - VOICE - TOKENS
        tokens = tuple((number, "a") for number in range(TOKENS))
        chunk = Chunk(
            0, "a" * TOKENS, tokens, VOICE, TOKENS, room, SLOTS, VOICE, SLOTS, None, MIMI_STEPS, 0.0
        )
        bases = [Base(cache.id, VOICE, self._values(cache, VOICE)) for cache in self.flow]
        self.writer.begin_chunk(chunk, bases)
        self._write("voice", -1, [])

    def add(self, phase: str, slots: int, step: int = -1) -> None:
        deltas = [self._delta(cache, self._offset, slots) for cache in self.flow]
        self._offset += slots
        if phase == "decode":
            deltas += [self._delta(cache, self._mimi_offset, MIMI_STEPS) for cache in self.mimi]
            self._mimi_offset += MIMI_STEPS
        self._write(phase, step, deltas)

    # ---- private ------------------------------------------------------------------------------

    def _cache(self, model: str, prefix: str, layer: int, heads: int, context: int | None) -> Cache:
        return self.writer.add_cache(
            model=model,
            name=f"{prefix}transformer.layers.{layer}.self_attn",
            layer=layer,
            batch=1,
            heads=heads,
            dim=DIM,
            context=context,
            weight_dtype="float32",
            weight_device="cpu",
        )

    def _values(self, cache: Cache, slots: int) -> Floats:
        shape = (2, 1, slots, cache.heads, cache.dim)
        return self._random.standard_normal(shape, np.float32)

    def _delta(self, cache: Cache, first: int, slots: int) -> SlotDelta:
        return SlotDelta(cache.id, first, first + slots, self._values(cache, slots))

    def _write(self, phase: str, step: int, deltas: list[SlotDelta]) -> None:
        ops = [self._op(number, deltas) for number in range(OPS)] if deltas else []
        frame = Frame(
            id=self._frame,
            chunk=0,
            phase=phase,  # type: ignore[arg-type]  # the three literals above
            step=step,
            stop_logit=-5.0 if phase == "decode" else None,
            stop_threshold=0.0 if phase == "decode" else None,
            eos=False,
            op_count=len(ops),
            flow_lm_ns=40_000_000,
            mimi_ns=20_000_000,
            began_ns=self._frame * 80_000_000,
        )
        audio = self._random.uniform(-0.3, 0.3, SAMPLES).astype(np.float32)
        record = FrameRecord(
            frame=frame,
            cache_states=self._states(phase),
            deltas=deltas,
            tensors=self._tensors(),
            ops=ops,
            latent=self._random.standard_normal(LATENT, np.float32) if step >= 0 else None,
            audio=audio if step >= 0 else None,
        )
        self.writer.add_frame(record)
        self._frame += 1

    def _states(self, phase: str) -> list[CacheState]:
        capacity = VOICE if phase == "voice" else SLOTS
        states = [
            CacheState(cache.id, self._offset, capacity, capacity - self._offset)
            for cache in self.flow
        ]
        if phase == "decode":
            room = (SLOTS - VOICE - TOKENS) * MIMI_STEPS
            left = room - self._mimi_offset
            states += [CacheState(c.id, self._mimi_offset, room, left) for c in self.mimi]
        return states

    def _tensors(self) -> list[TensorState]:
        return [
            TensorState(
                "flow_lm", cache.name, "offset", "[1]", "int64", "cpu", 0, str(self._offset), 0
            )
            for cache in self.flow
        ]

    def _op(self, number: int, deltas: list[SlotDelta]) -> Op:
        delta = deltas[number % len(deltas)]
        write = number % 10 == 0
        module = f"flow_lm.transformer.layers.{delta.cache}.self_attn"
        touches = [Touch(delta.cache, 2, 0, delta.last, write)] if number % 5 == 0 else []
        return Op(
            name="aten.copy_.default" if write else "aten.linear.default",
            part=2,
            module=module,
            site=(FILE, 10 + number % 200, "forward"),
            arguments=f"f32[1,{1 + number % 7},{HEADS},{DIM}]",
            results=f"f32[1,1,{HEADS},{DIM}]",
            thread="Thread-1",
            began_ns=number * 30_000,
            took_ns=20_000,
            nan_in=0,
            nan_out=0,
            touches=touches,
        )
