"""The flat list that a tracer fills, and the calls that it stands for."""

from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from kvstudio.engine.op_facts import FLOATS, OpFacts

RESULTS = object()  # in `_raw`: the results begin here
HEADER = 6


class Kept(NamedTuple):
    """An op that has to do with what lies in a cache: what it was given and what it gave."""

    func: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any


class RawCall(NamedTuple):
    """One op as it ran.

    Attributes:
        code, line: the model's code that called it.
        arguments, results: of each tensor the id of its Python object, its shape and dtype.
        kept: if an argument lies in a cache, or holds a copy of what did.
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
    kept: Kept | None
    total: int


def unpack(raw: Sequence[Any], kept: Sequence[tuple[int, Kept]]) -> list[RawCall]:
    """Makes calls of the tracer's flat list."""
    calls: list[RawCall] = []
    place, total = 0, 0
    own = dict(kept)
    while place < len(raw):
        facts, began, took, code, line, module = raw[place : place + HEADER]
        middle = place + HEADER
        while raw[middle] is not RESULTS:
            middle += 3
        end = middle + 1
        while end < len(raw) and not isinstance(raw[end], OpFacts):
            end += 3
        given, made = tuple(raw[place + HEADER : middle]), tuple(raw[middle + 1 : end])
        summed = bool(made) and facts.checked and made[2] in FLOATS
        calls.append(
            RawCall(
                facts,
                began,
                took,
                code,
                line,
                module,
                given,
                made,
                own.get(middle),
                total if summed else -1,
            )
        )
        total += summed
        place = end
    return calls
