"""What FlowLM's own modules were given in the course of one decode step."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.recording.evidence import Fed

THRESHOLD = "eos_threshold"  # what the model calls it where it compares


class StepNotes:
    """Notes what passes by, and says after the step what it was: looking would be traced.

    Args:
        look: whether to note what the step was fed.
    """

    def __init__(self, tts: pocket.TTS, *, look: bool) -> None:
        self._tts, self._look = tts, look
        self.begin_chunk()
        self.begin()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While entered, hears of every FlowLM pass."""
        flow_lm = self._tts.flow_lm
        hooks = [flow_lm.out_eos.register_forward_hook(self._on_stop_logit)]
        if self._look and hasattr(flow_lm, "input_linear"):
            hooks.append(flow_lm.input_linear.register_forward_pre_hook(self._on_fed))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def begin_chunk(self, *, from_start: bool = True) -> None:
        """The next step is the chunk's first, or at least the first that is seen."""
        self._latent: torch.Tensor | None = None
        self._from_start = from_start

    def begin(self) -> None:
        self._output: torch.Tensor | None = None
        self._threshold: float | None = None
        self._input: torch.Tensor | None = None

    def end(self, latent: torch.Tensor) -> None:
        """The step is over and has made a latent, which the next one should be fed."""
        self._latent = latent.detach().clone() if self._look else None

    def stop_logit(self, output: torch.Tensor) -> None:
        """`out_eos` has returned; call while the model's code that asked for it still runs."""
        self._output, self._threshold = output, _compared_with(sys._getframe(1))

    def feed(self, given: torch.Tensor) -> None:
        """`input_linear` is given the vectors of a pass `[1, n, ldim]`."""
        self._input = given

    @property
    def stop(self) -> tuple[float | None, float]:
        """The stop logit and the threshold that it was compared with."""
        logit = None if self._output is None else float(self._output.reshape(-1)[-1])
        if self._threshold is None:
            return logit, float(self._tts.eos_threshold)
        return logit, self._threshold

    @property
    def fed(self) -> Fed | None:
        """What the step was fed, None if nobody saw it or it was more than one vector."""
        if self._input is None or self._input.device.type == "meta":
            return None
        vector = _flat(self._input)
        marker = _flat(self._tts.flow_lm.bos_emb)
        if vector.shape != marker.shape:
            return None
        if bool(vector.isnan().any()):
            return "nan"
        if not bool(vector.any()):
            return "zero"
        if torch.equal(vector, marker):
            return "marker"
        if self._latent is None:  # of a step that nobody saw, it may have been the latent
            return "other" if self._from_start else None
        return "latent" if torch.equal(vector, _flat(self._latent)) else "other"

    def _on_stop_logit(self, module: object, inputs: object, output: torch.Tensor) -> None:
        self.stop_logit(output)

    def _on_fed(self, module: object, inputs: Any) -> None:
        if inputs:
            self.feed(inputs[0])


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1).to("cpu", torch.float32)


def _compared_with(frame: FrameType | None) -> float | None:
    """The threshold in the innermost code that has one: wrappers may change it on its way."""
    while frame is not None and THRESHOLD not in frame.f_code.co_varnames:
        frame = frame.f_back
    value = None if frame is None else frame.f_locals.get(THRESHOLD)
    return float(value) if isinstance(value, (int, float)) else None
