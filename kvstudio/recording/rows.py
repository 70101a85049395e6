"""The rows of a recording as the writer takes them and the reader gives them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kvstudio.recording.evidence import Attention, Fed, Misuse, Surprise

Phase = Literal["voice", "text", "decode"]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Cache:
    """One KV cache `[2, B, T, H, D]`; its T (capacity) changes and is in `CacheState`."""

    id: int
    model: str
    name: str
    layer: int
    batch: int
    heads: int
    dim: int
    context: int | None
    weight_dtype: str
    weight_device: str

    @property
    def slot_floats(self) -> int:
        """How many numbers one slot holds, K and V together."""
        return 2 * self.batch * self.heads * self.dim


@dataclass(frozen=True)
class Chunk:
    """One `_generate` call; `current_end + token_count + max_gen_len` should be `required_len`."""

    id: int
    text: str
    tokens: tuple[tuple[int, str], ...]
    current_end: int
    token_count: int
    max_gen_len: int
    required_len: int
    capacity_before: int
    capacity_after: int
    continues: int | None
    mimi_steps: int
    started_at: float


@dataclass(frozen=True)
class Expansion:
    """What `_expand_kv_cache` did to one cache; see the `expansion` table."""

    chunk: int
    cache: int
    capacity_before: int
    capacity_after: int
    changed_slot: int | None
    not_nan_slot: int | None
    fill: str


@dataclass(frozen=True)
class Frame:
    """One step of the run; see the `frame` table."""

    id: int
    chunk: int
    phase: Phase
    step: int
    stop_logit: float | None
    stop_threshold: float | None
    eos: bool
    op_count: int
    flow_lm_ns: int
    mimi_ns: int
    began_ns: int
    problem: str | None = None

    @property
    def is_codec_alone(self) -> bool:
        """Whether latents were decoded apart from the steps that made them: FlowLM did not run."""
        return self.phase == "decode" and self.flow_lm_ns == 0 and self.mimi_ns > 0

    @property
    def title(self) -> str:
        """Such as `voice prefill`, `text prefill` or `decode step 17`."""
        return f"decode step {self.step}" if self.phase == "decode" else f"{self.phase} prefill"


@dataclass(frozen=True)
class CacheState:
    """Offset and capacity of one cache after a frame.

    `found`: the offset that the frame's step found, None if it took no step on this cache.
    """

    cache: int
    offset: int | None
    capacity: int
    nan_slots: int
    found: int | None = None


@dataclass(frozen=True)
class SlotDelta:
    """Slots `[first, last)` written during a frame.

    `values`: `[2, B, last - first, H, D]`, or None if they were not recorded (trace off).
    """

    cache: int
    first: int
    last: int
    values: Floats | None


@dataclass(frozen=True)
class TensorState:
    """One tensor of the streaming state; `changed` if this frame changed it."""

    model: str
    entry: str
    key: str
    shape: str
    dtype: str
    device: str
    nan_count: int
    value: str
    storage: int
    changed: bool = True


@dataclass(frozen=True)
class Base:
    """What a FlowLM cache held when a chunk began.

    `values`: `[2, B, slots, H, D]`, or None if the chunk goes on with the state of the one before.
    """

    cache: int
    offset: int
    values: Floats | None


@dataclass(frozen=True)
class Touch:
    """Slots `[first, last)` of a cache that an op read or wrote; `kv`: 0 K, 1 V, 2 both."""

    cache: int
    kv: int
    first: int
    last: int
    write: bool


class Op(NamedTuple):
    """One aten op as it ran. A tuple, because a thousand are made a frame.

    Attributes:
        site: file, line and function of the model's code that called it.
        arguments: shapes and dtypes in words, such as `f32[1,16,1,64], f32[1,16,52,64]`.
    """

    name: str
    part: int
    module: str
    site: tuple[str, int, str]
    arguments: str
    results: str
    thread: str
    began_ns: int
    took_ns: int
    nan_in: int | None = None
    nan_out: int | None = None
    touches: Sequence[Touch] = ()
    id: int = -1
    frame: int = -1


@dataclass(frozen=True)
class FrameRecord:
    """Everything that one transaction adds."""

    frame: Frame
    cache_states: Sequence[CacheState] = ()
    deltas: Sequence[SlotDelta] = ()
    tensors: Sequence[TensorState] = ()
    ops: Sequence[Op] = ()
    latent: Floats | None = None
    audio: Floats | None = None
    rng: bytes | None = None
    misuses: Sequence[Misuse] = ()
    attentions: Sequence[Attention] = ()
    surprises: Sequence[Surprise] = ()
    fed: Fed | None = None


@dataclass(frozen=True)
class LogLine:
    at: float
    stream: str
    text: str


@dataclass(frozen=True)
class Facts:
    """The `meta` table: facts about the whole run."""

    spec_json: str
    versions: dict[str, str]
    host: str
    pid: int
    status: str
    reason: str
    sample_rate: int
    frame_rate: float
    started_at: float
    model: dict[str, Any] = field(default_factory=dict)
    voice: dict[str, Any] = field(default_factory=dict)
