"""Records the aten ops of one thread while the model runs, as cheaply as Python allows.

    with OpTracer(knowledge, watched) as tracer:
        tts._run_flow_lm_and_increment_step(...)
    tracer.calls   # one RawCall an op, in order; `op_rows.py` makes rows of them afterwards

What keeps it cheap: everything about an op is looked up once per `OpOverload`; tensors are told
apart by the id of their Python object, which stays the same while any C++ code holds the tensor,
and only a tensor that no op of this step made is asked for its storage; shapes are kept as they
come; the NaN check is one `sum` per fresh float result, looked at together at the end; slots are
worked out after the step, outside the model's time.
"""

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from types import CodeType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from kvstudio.engine.module_path import module_stack

# Shares memory with its argument although it is not flagged as a view.
HIDDEN_VIEWS = frozenset({"aten::_unsafe_view"})
# Their results hold whatever lay in memory, NaN perhaps, until something is written.
BLANK = ("aten::empty", "aten::new_empty")
FLOATS = frozenset({torch.float32, torch.float64, torch.float16, torch.bfloat16})
NOBODY = "nobody"  # in `_known`: a tensor that was not met before
RESULTS = object()  # in `_raw`: the results begin here
HEADER = 6
LARGEST_LOOKED_AT = 4096  # numbers in a tensor from outside the step, such as the last latent


class OpFacts:
    """What is the same for every call of an op.

    Attributes:
        view: the result shares memory with an argument.
        checked: the result is looked at for NaN.
        writes: positions of arguments that it writes into.
        lists: positions of arguments that are lists of tensors.
        keywords: name and position of arguments that are a tensor and given by name.
        key: view, checked, writes, positions of arguments that are one tensor, whether there are
            any others; in one look.
    """

    __slots__ = ("checked", "key", "keywords", "lists", "name", "view", "writes")

    def __init__(
        self,
        name: str,
        view: bool,
        checked: bool,
        writes: tuple[int, ...],
        tensors: tuple[int, ...],
        lists: tuple[int, ...],
        keywords: tuple[tuple[str, int], ...],
    ) -> None:
        self.name, self.view, self.checked, self.writes = name, view, checked, writes
        self.lists, self.keywords = lists, keywords
        self.key = (view, checked, writes, tensors, bool(lists or keywords))


class RawTouch(NamedTuple):
    """A tensor argument that lies in a watched cache: its place in the storage, in elements."""

    cache: str
    written: bool
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class RawCall(NamedTuple):
    """One op as it ran.

    Attributes:
        code, line: the model's code that called it.
        arguments, results: of each tensor the id of its Python object, its shape and dtype.
        total: index of the result's sum among the tracer's sums, or -1.
    """

    facts: OpFacts
    began: int
    took: int
    code: CodeType
    line: int
    module: str
    arguments: tuple[Any, ...]
    results: tuple[Any, ...]
    touches: list[RawTouch]
    total: int


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
        self._touches: list[tuple[int, RawTouch]] = []  # with the place in `_raw`

    @property
    def calls(self) -> list[RawCall]:
        """The ops so far, in order."""
        return unpack(self._raw, self._touches)

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
                    if cache is not None and not view:
                        self._touch(cache, tensor, position in writes)
        if others:
            self._note_others(facts, args, kwargs or {})
        if isinstance(result, Tensor):
            identity, dtype = id(result), result.dtype
            raw += (RESULTS, identity, result.shape, dtype)
            if view:
                known[identity] = inside
            elif not writes:
                known[identity] = None
            if checked and dtype in FLOATS:
                self.sums.append(result.sum())
        else:
            self._note_results(facts, result, inside)
        return result

    # ---- private ------------------------------------------------------------------------------

    def _meet(self, tensor: Tensor) -> str | None:
        """The cache in which a tensor lies that no op of this step has made."""
        try:
            cache = self._watched.get(tensor.untyped_storage())
        except (NotImplementedError, RuntimeError):  # a kind of tensor without a storage
            cache = None
        self._known[id(tensor)] = cache
        # Neither a weight nor of a kind that cannot sum, nor so large that it would cost.
        plain = cache is None and type(tensor) is Tensor and tensor.dtype in FLOATS
        if plain and tensor.numel() <= LARGEST_LOOKED_AT:
            self.met[id(tensor)] = tensor.sum()
        return cache

    def _touch(self, cache: str, tensor: Tensor, written: bool) -> None:
        touch = RawTouch(
            cache, written, int(tensor.storage_offset()), tensor.shape, tensor.stride()
        )
        self._touches.append((len(self._raw), touch))

    def _note_others(self, facts: OpFacts, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Tensors that come in lists or by name."""
        for position in facts.lists:
            for tensor in args[position] if position < len(args) else ():
                self._note(facts, tensor, position)
        for name, position in facts.keywords:
            self._note(facts, kwargs.get(name), position)

    def _note(self, facts: OpFacts, tensor: Any, position: int) -> None:
        if not isinstance(tensor, Tensor):
            return
        self._raw += (id(tensor), tensor.shape, tensor.dtype)
        cache = self._known.get(id(tensor), NOBODY)
        cache = self._meet(tensor) if cache is NOBODY else cache
        if cache is not None and not facts.view:
            self._touch(cache, tensor, position in facts.writes)

    def _note_results(self, facts: OpFacts, result: Any, inside: str | None) -> None:
        """Of an op that gives several tensors, or none; the first float one is checked for NaN."""
        self._raw.append(RESULTS)
        tensors = result if isinstance(result, (list, tuple)) else ()
        tensors = [each for each in tensors if isinstance(each, Tensor)]
        for tensor in tensors:
            self._raw += (id(tensor), tensor.shape, tensor.dtype)
            self._known[id(tensor)] = inside if facts.view else None
        if tensors and facts.checked and tensors[0].dtype in FLOATS:
            self.sums.append(tensors[0].sum())


def is_model_code(code: CodeType) -> bool:
    """Whether code lies outside torch and KVStudio."""
    return not code.co_filename.startswith((*LIBRARIES, "<"))


def unpack(raw: Sequence[Any], touches: Sequence[tuple[int, RawTouch]]) -> list[RawCall]:
    """Makes calls of the tracer's flat list."""
    calls: list[RawCall] = []
    place, touched, total = 0, 0, 0
    while place < len(raw):
        facts, began, took, code, line, module = raw[place : place + HEADER]
        middle = place + HEADER
        while raw[middle] is not RESULTS:
            middle += 3
        end = middle + 1
        while end < len(raw) and not isinstance(raw[end], OpFacts):
            end += 3
        own = []
        while touched < len(touches) and touches[touched][0] <= middle:
            own.append(touches[touched][1])
            touched += 1
        given, made = tuple(raw[place + HEADER : middle]), tuple(raw[middle + 1 : end])
        summed = bool(made) and facts.checked and made[2] in FLOATS
        calls.append(
            RawCall(
                facts, began, took, code, line, module, given, made, own, total if summed else -1
            )
        )
        total += summed
        place = end
    return calls


def describe(func: Any) -> OpFacts:
    """Looks up an `OpOverload` once."""
    arguments = func._schema.arguments
    kinds = [str(argument.type) for argument in arguments]
    single = [n for n, kind in enumerate(kinds) if kind in ("Tensor", "Optional[Tensor]")]
    view = bool(func.is_view) or func.name() in HIDDEN_VIEWS
    return OpFacts(
        name=str(func),
        view=view,
        checked=not view and not func.name().startswith(BLANK),
        writes=tuple(
            position
            for position, argument in enumerate(arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ),
        tensors=tuple(n for n in single if not arguments[n].kwarg_only),
        lists=tuple(
            n for n, kind in enumerate(kinds) if kind.startswith("List[") and "Tensor" in kind
        ),
        keywords=tuple((arguments[n].name, n) for n in single if arguments[n].kwarg_only),
    )


LIBRARIES: tuple[str, ...] = (
    torch.__file__.rsplit("__init__", 1)[0],
    __file__.rsplit("tracer.py", 1)[0],
)
