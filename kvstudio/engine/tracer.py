"""Records the aten ops of one thread while the model runs, as cheaply as Python allows.

    with OpTracer(knowledge, watched) as tracer:
        tts._run_flow_lm_and_increment_step(...)
    tracer.calls   # one RawCall an op, in order; `judging.py` makes sense of them afterwards

What keeps it cheap: everything about an op is looked up once per `OpOverload`; tensors are told
apart by the id of their Python object, which stays the same while any C++ code holds the tensor,
and only a tensor that no op of this step made is asked for its storage; shapes are kept as they
come; the NaN check is one `sum` per fresh float result, looked at together at the end. Of an op
that uses, copies or writes what lies in a cache the arguments are kept as they are, so that the
slots, and what became of them, are worked out after the step, outside the model's time.
"""

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from types import CodeType
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from kvstudio.engine.module_path import module_stack, rope_positions
from kvstudio.engine.op_facts import FLOATS, OpFacts, describe
from kvstudio.engine.raw_calls import RESULTS, Kept, RawCall, unpack
from kvstudio.engine.sums import HALF, WIDE, total

NOBODY = "nobody"  # in `_known`: a tensor that was not met before
COPY = "copy"  # in `_known`: a tensor that holds numbers which lay in a cache
LARGEST_LOOKED_AT = 4096  # numbers in a tensor from outside the step, such as the last latent


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
        self.sums: list[Tensor] = []
        self.met: dict[int, Tensor] = {}  # the sum of what came from outside, by id
        self.thread = threading.current_thread().name
        self._facts, self._model_code = knowledge.facts, knowledge.model_code
        self._watched = watched
        self._known: dict[int, str | None] = {}
        self._modules = module_stack()
        # One flat list, since a tuple or two an op would cost as much as noting the op itself:
        # facts, began, took, code, line, module, (id, shape, dtype)..., RESULTS, (id, ...)...
        self._raw: list[Any] = []
        self._kept: list[tuple[int, Kept]] = []  # with the place in `_raw`
        self._copies: set[Any] = set()  # storages that hold copies of what lay in a cache
        self.ropes = rope_positions()
        self.ropes.clear()

    @property
    def calls(self) -> list[RawCall]:
        """The ops so far, in order."""
        return unpack(self._raw, self._kept)

    # One long function on purpose: it runs a thousand times a frame, and every call it would be
    # split into costs as much as a shape.
    def __torch_dispatch__(  # noqa: C901, PLR0915
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        began = perf_counter_ns()
        result = func(*args, **kwargs) if kwargs else func(*args)
        took = perf_counter_ns() - began
        facts = self._facts.get(func)
        if facts is None:
            facts = self._facts[func] = describe(func)
        view, checked, writes, positions, others = facts.key
        frame: Any = sys._getframe(1)  # the innermost frame that is the model's own code
        model_code = self._model_code
        ours = model_code.get(frame.f_code)
        while not ours:
            if ours is None:
                ours = model_code[frame.f_code] = is_model_code(frame.f_code)
            elif frame.f_back is None:
                break
            else:
                frame = frame.f_back
                ours = model_code.get(frame.f_code)
        modules, known, raw = self._modules, self._known, self._raw
        raw += (facts, began, took, frame.f_code, frame.f_lineno, modules[-1] if modules else "")
        inside: str | None = None
        given = len(args)
        for position in positions:
            tensor = args[position] if position < given else None
            if isinstance(tensor, Tensor):
                identity = id(tensor)
                raw += (identity, tensor.shape, tensor.dtype)
                cache = known.get(identity, NOBODY)
                if cache is not None:
                    cache = self._meet(tensor) if cache is NOBODY else cache
                    inside = cache or inside
        if others:
            inside = self._note_others(facts, args, kwargs or {}) or inside
        if inside is not None and not view:
            self._keep(func, facts, args, kwargs or {}, result)
        if isinstance(result, Tensor):
            identity, dtype = id(result), result.dtype
            raw += (RESULTS, identity, result.shape, dtype)
            if view or not writes:
                known[identity] = inside if view or facts.carries else None
            if checked and dtype in FLOATS:
                # A sum of halves is soon past what a half can hold.
                self.sums.append(result.sum(dtype=WIDE) if dtype is HALF else result.sum())
        else:
            self._note_results(facts, result, inside)
        return result

    # ---- private ------------------------------------------------------------------------------

    def _meet(self, tensor: Tensor) -> str | None:
        """The cache in which a tensor lies that no op of this step has made."""
        try:
            storage = tensor.untyped_storage()
            cache = self._watched.get(storage)
            if cache is None and storage in self._copies:
                cache = COPY
        except (NotImplementedError, RuntimeError):  # a kind of tensor without a storage
            cache = None
        self._known[id(tensor)] = cache
        # Neither a weight nor of a kind that cannot sum, nor so large that it would cost.
        plain = cache is None and type(tensor) is Tensor and tensor.dtype in FLOATS
        if plain and tensor.numel() <= LARGEST_LOOKED_AT:
            self.met[id(tensor)] = total(tensor)
        return cache

    def _keep(
        self,
        func: Any,
        facts: OpFacts,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: Any,
    ) -> None:
        self._kept.append((len(self._raw), Kept(func, args, kwargs, result)))
        for position in facts.writes:
            target = args[position] if position < len(args) else kwargs.get(facts.names[position])
            if isinstance(target, Tensor) and self._known.get(id(target)) is None:
                self._take_for_copy(target)

    def _take_for_copy(self, target: Tensor) -> None:
        """A tensor that was met before as one of no interest now holds numbers of a cache."""
        self._copies.add(target.untyped_storage())
        for identity in [key for key, cache in self._known.items() if cache is None]:
            del self._known[identity]  # it may look at the same storage
        self._known[id(target)] = COPY

    def _note_others(
        self, facts: OpFacts, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> str | None:
        """Tensors that come in lists or by name; the cache in which one of them lies."""
        inside = None
        for position in facts.lists:
            for tensor in args[position] if position < len(args) else ():
                inside = self._note(tensor) or inside
        for name, _ in facts.keywords:
            inside = self._note(kwargs.get(name)) or inside
        return inside

    def _note(self, tensor: Any) -> str | None:
        if not isinstance(tensor, Tensor):
            return None
        self._raw += (id(tensor), tensor.shape, tensor.dtype)
        cache = self._known.get(id(tensor), NOBODY)
        return self._meet(tensor) if cache is NOBODY else cache

    def _note_results(self, facts: OpFacts, result: Any, inside: str | None) -> None:
        """Of an op that gives several tensors, or none; the first float one is checked for NaN."""
        self._raw.append(RESULTS)
        tensors = result if isinstance(result, (list, tuple)) else ()
        tensors = [each for each in tensors if isinstance(each, Tensor)]
        for tensor in tensors:
            self._raw += (id(tensor), tensor.shape, tensor.dtype)
            self._known[id(tensor)] = inside if facts.view or facts.carries else None
        if tensors and facts.checked and tensors[0].dtype in FLOATS:
            self.sums.append(total(tensors[0]))


def is_model_code(code: CodeType) -> bool:
    """Whether code lies outside torch and KVStudio."""
    return not code.co_filename.startswith((*LIBRARIES, "<"))


LIBRARIES: tuple[str, ...] = (
    torch.__file__.rsplit("__init__", 1)[0],
    __file__.rsplit("tracer.py", 1)[0],
)
