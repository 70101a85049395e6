"""A frame in the making: what its threads have left of it so far."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from kvstudio.engine.tracing import Evidence
from kvstudio.recording.evidence import Fed, Surprise
from kvstudio.recording.rows import (
    CacheState,
    Floats,
    Frame,
    FrameRecord,
    Phase,
    SlotDelta,
    TensorState,
)


class PendingFrame:
    """Filled by the FlowLM thread and the Mimi thread, then made into one `FrameRecord`.

    Attributes:
        decoded: set when the frame's latent has been decoded, or failed to be.
        audio: the tensor that `decode_from_latent` returned; read at the end, because the worker
            still fades its first samples in place.
        fed: what a decode step was fed.
    """

    def __init__(self, number: int, chunk: int, phase: Phase, step: int, run_began_ns: int) -> None:
        self.id, self.chunk, self.phase, self.step = number, chunk, phase, step
        self.began_ns = time.perf_counter_ns() - run_began_ns
        self.flow_lm_ns = self.mimi_ns = 0
        self.decoded = threading.Event()
        self.audio: torch.Tensor | None = None
        self.rng: bytes | None = None
        self.fed: Fed | None = None
        self._latent: Floats | None = None
        self._stop_logit: float | None = None
        self._stop_threshold: float | None = None
        self._problem: str | None = None
        self._states: dict[int, CacheState] = {}
        self._deltas: list[SlotDelta] = []
        self._tensors: dict[tuple[str, str, str], TensorState] = {}
        self._found: dict[int, int | None] = {}
        self._surprises: dict[Surprise, None] = {}

    def add_entry(self, found: Mapping[int, int | None], surprises: Sequence[Surprise]) -> None:
        """What a step found; of several, the first says what the frame found."""
        self._found = {**found, **self._found}
        self._surprises.update(dict.fromkeys(surprises))

    def add_state(
        self,
        states: Sequence[CacheState],
        deltas: Sequence[SlotDelta],
        tensors: Sequence[TensorState],
    ) -> None:
        """What the state is now; later calls replace what earlier ones said of the same thing."""
        self._states.update({state.cache: state for state in states})
        self._deltas += deltas
        self._tensors.update({(t.model, t.entry, t.key): t for t in tensors})

    def add_latent(self, latent: torch.Tensor, logit: float | None, threshold: float) -> None:
        self._latent = _floats(latent)
        self._stop_logit, self._stop_threshold = logit, threshold

    def add_audio(self, audio: torch.Tensor, took_ns: int) -> None:
        self.audio = audio
        self.mimi_ns += took_ns
        self.decoded.set()

    def failed(self, error: BaseException) -> None:
        self._problem = f"{type(error).__name__}: {error}"
        self.decoded.set()

    def record(self, evidence: Evidence, problem: str | None = None) -> FrameRecord:
        logit, threshold = self._stop_logit, self._stop_threshold
        return FrameRecord(
            frame=Frame(
                id=self.id,
                chunk=self.chunk,
                phase=self.phase,
                step=self.step,
                stop_logit=logit,
                stop_threshold=threshold,
                eos=logit is not None and threshold is not None and logit > threshold,
                op_count=len(evidence.ops),
                flow_lm_ns=self.flow_lm_ns,
                mimi_ns=self.mimi_ns,
                began_ns=self.began_ns,
                problem=self._problem or problem,
            ),
            cache_states=[
                replace(state, found=self._found.get(cache))
                for cache, state in self._states.items()
            ],
            deltas=self._deltas,
            tensors=list(self._tensors.values()),
            ops=evidence.ops,
            misuses=evidence.misuses,
            attentions=evidence.attentions,
            latent=self._latent,
            audio=None if self.audio is None else _floats(self.audio),
            rng=self.rng,
            surprises=list(self._surprises),
            fed=self.fed,
        )


def _floats(tensor: torch.Tensor) -> Floats:
    """All numbers of a tensor, copied, as float32."""
    flat = tensor.detach().reshape(-1).to("cpu", torch.float32)
    return np.array(flat.numpy(), np.float32)
