"""Records the aten ops of one thread while the model runs, as cheaply as Python allows.

    with OpTracer(sites, watched) as tracer:
        tts._run_flow_lm_and_increment_step(...)
    tracer.calls   # one RawCall an op, in order; `op_rows.py` makes rows of them afterwards

What keeps it cheap: everything about an op is looked up once per `OpOverload`; shapes are kept as
they come; the result's NaN check is one `sum` per fresh float result, looked at together at the
end; slots are worked out after the step, outside the model's time.
"""

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kvstudio.engine.module_path import current_module

# Shares memory with its argument although it is not flagged as a view (pytorch/pytorch, aten).
HIDDEN_VIEWS = frozenset({"aten::_unsafe_view"})
FLOATS = frozenset({torch.float32, torch.float64, torch.float16, torch.bfloat16})
TensorMeta = tuple[tuple[int, ...], torch.dtype]
# (cache key, written, storage offset, sizes, strides)
RawTouch = tuple[str, bool, int, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class OpFacts:
    """What is the same for every call of an op."""

    name: str
    view: bool
    writes: tuple[int, ...]  # positions of arguments that it writes into


# (facts, began, took, code, line, module, arguments, results, producers, touches, sum index)
RawCall = tuple[
    OpFacts,
    int,
    int,
    CodeType,
    int,
    str,
    tuple[TensorMeta, ...],
    tuple[TensorMeta, ...],
    tuple[int, ...],
    tuple[RawTouch, ...],
    int,
]


@dataclass
class OpKnowledge:
    """What has been learned about ops and source files; shared by all tracers of a run."""

    facts: dict[Any, OpFacts] = field(default_factory=dict)
    model_code: dict[CodeType, bool] = field(default_factory=dict)


class OpTracer(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
    """Sees every aten op of the thread that enters it; use one instance per thread and step.

    Args:
        knowledge: shared between tracers.
        watched: cache key by storage object, for the caches whose slots are to be noted.
    """

    def __init__(self, knowledge: OpKnowledge, watched: Mapping[Any, str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls: list[RawCall] = []
        self.sums: list[torch.Tensor] = []
        self.thread = threading.current_thread().name
        self._knowledge = knowledge
        self._watched = watched
        self._producers: dict[int, int] = {}

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        began = time.perf_counter_ns()
        result = func(*args, **kwargs) if kwargs else func(*args)
        took = time.perf_counter_ns() - began
        facts = self._knowledge.facts.get(func)
        if facts is None:
            facts = self._knowledge.facts[func] = describe(func)
        self._note(facts, began, took, args, kwargs, result)
        return result

    def _note(
        self,
        facts: OpFacts,
        began: int,
        took: int,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None,
        result: Any,
    ) -> None:
        tensors, positions = _tensors(args, kwargs)
        producers, watched, made = self._producers, self._watched, len(self.calls)
        arguments, origins, touches = [], [], []
        for tensor, position in zip(tensors, positions, strict=True):
            arguments.append((tensor.shape, tensor.dtype))
            storage = tensor.untyped_storage()
            origins.append(producers.get(storage._cdata, -1))
            if facts.view or storage not in watched:
                continue
            written = position in facts.writes
            touches.append(
                (
                    watched[storage],
                    written,
                    int(tensor.storage_offset()),
                    tensor.shape,
                    tensor.stride(),
                )
            )
        outputs = _results(result)
        sum_index = -1
        if not facts.view:
            for output in outputs:
                producers[output.untyped_storage()._cdata] = made
            sum_index = self._scan(outputs)
        frame = self._model_frame()
        self.calls.append(
            (
                facts,
                began,
                took,
                frame.f_code,
                frame.f_lineno,
                current_module(),
                tuple(arguments),
                tuple([(output.shape, output.dtype) for output in outputs]),
                tuple(origins),
                tuple(touches),
                sum_index,
            )
        )

    def _scan(self, outputs: Sequence[torch.Tensor]) -> int:
        """Notes the sum of the first float result; NaN and Inf survive a sum."""
        for output in outputs:
            if output.dtype in FLOATS and output.device.type != "meta":
                self.sums.append(output.sum())
                return len(self.sums) - 1
        return -1

    def _model_frame(self) -> FrameType:
        """The innermost Python frame that lies outside torch and KVStudio."""
        known = self._knowledge.model_code
        frame = sys._getframe(3)
        while True:
            outside = known.get(frame.f_code)
            if outside is None:
                outside = known[frame.f_code] = _is_model_code(frame.f_code)
            if outside or frame.f_back is None:
                return frame
            frame = frame.f_back


def describe(func: Any) -> OpFacts:
    schema = func._schema
    writes = tuple(
        position
        for position, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
    name = str(func)
    return OpFacts(name, bool(func.is_view) or func.name() in HIDDEN_VIEWS, writes)


def _tensors(
    args: Sequence[Any], kwargs: Mapping[str, Any] | None
) -> tuple[list[torch.Tensor], list[int]]:
    """The tensor arguments, with their positions in the schema (keyword ones: -1)."""
    tensors: list[torch.Tensor] = []
    positions: list[int] = []
    for position, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            positions.append(position)
        elif isinstance(value, (list, tuple)):
            inside = [each for each in value if isinstance(each, torch.Tensor)]
            tensors += inside
            positions += [position] * len(inside)
    if kwargs:
        named = [value for value in kwargs.values() if isinstance(value, torch.Tensor)]
        tensors += named
        positions += [-1] * len(named)
    return tensors, positions


def _results(result: Any) -> Sequence[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return (result,)
    if isinstance(result, (list, tuple)):
        return [each for each in result if isinstance(each, torch.Tensor)]
    return ()


_LIBRARY_FOLDERS: tuple[str, ...] = (
    torch.__file__.rsplit("__init__", 1)[0],
    __file__.rsplit("tracer.py", 1)[0],
)


def _is_model_code(code: CodeType) -> bool:
    return not code.co_filename.startswith((*_LIBRARY_FOLDERS, "<"))
