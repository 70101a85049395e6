"""The ops of a frame, against a mode of torch's own kind that notes the same at its leisure."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kvstudio.engine.judging import judge
from kvstudio.engine.op_rows import op_rows, shape_words
from kvstudio.engine.sums import FINITE, INF, NAN
from kvstudio.engine.tracer import OpKnowledge, OpTracer
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Op
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.running import observed, plain, session_with

EXPAND, FLOW_LM, MIMI = 1, 2, 3
SPEC = RunSpec(text="Hello.", temperature=0.7)
Noted = tuple[str, str, str, int]


class Noting(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
    """Notes name, arguments, results and what the results hold, of every op of its thread."""

    def __init__(self, noted: list[Noted]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._noted = noted

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: object,
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        result = func(*args, **(kwargs or {}))
        given, made = _tensors((args, kwargs)), _tensors(result)
        fresh = not func.is_view and "empty" not in str(func) and "_unsafe_view" not in str(func)
        content = _content(made[0]) if made and fresh else FINITE
        self._noted.append((str(func), _words(given), _words(made), content))
        return result


def _tensors(tree: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _words(tensors: list[torch.Tensor]) -> str:
    return shape_words(tuple(each for t in tensors for each in (t.shape, t.dtype)))


def _content(tensor: torch.Tensor) -> int:
    if not tensor.is_floating_point():
        return FINITE
    return NAN if tensor.isnan().any() else INF if tensor.isinf().any() else FINITE


def traced(function: Callable[[], object]) -> list[Op]:
    with OpTracer(OpKnowledge(), {}) as tracer:
        function()
    return op_rows(judge(tracer, None, 0), FLOW_LM, tracer.thread, 0)


@pytest.fixture(scope="module")
def both(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Recording, dict[int, list[list[Noted]]]]]:
    """A recording, and for each part what was noted in a plain run, one list a call."""
    session = session_with(ModelSource(), "low")
    path = tmp_path_factory.mktemp("ops") / "run.kvrec"
    observed(session, SPEC, path)
    noted: dict[int, list[list[Noted]]] = {EXPAND: [], FLOW_LM: [], MIMI: []}

    def noting(part: int) -> Callable[..., Any]:
        def call(original: Callable[..., Any], *args: object, **kwargs: object) -> object:
            noted[part].append([])
            with Noting(noted[part][-1]):
                return original(*args, **kwargs)

        return call

    tts: Any = session.tts
    with (
        wrapped(tts, "_expand_kv_cache", noting(EXPAND)),
        wrapped(tts, "_run_flow_lm", noting(FLOW_LM)),
        wrapped(tts.mimi, "decode_from_latent", noting(MIMI)),
    ):
        plain(session, SPEC)
    with Recording.open(path) as recording:
        recording.ops.refresh()
        yield recording, noted


def test_every_op_in_order_with_its_shapes(
    both: tuple[Recording, dict[int, list[list[Noted]]]],
) -> None:
    recording, noted = both
    calls = {part: iter(lists) for part, lists in noted.items()}
    for frame in recording.frames[1:]:
        ops = [recording.ops.get(int(number)) for number in recording.ops.of_frame(frame.id)]
        assert [op.part for op in ops] == sorted(op.part for op in ops)
        for part in sorted({op.part for op in ops}):
            ours = [(op.name, op.arguments, op.results) for op in ops if op.part == part]
            theirs = [each[:3] for each in next(calls[part])]
            # The step around `_run_flow_lm` makes its arguments first and counts up last.
            first = ours.index(theirs[0])
            assert ours[first : first + len(theirs)] == theirs, frame.title
            around = ours[:first] + ours[first + len(theirs) :]
            assert {name for name, _, _ in around} <= {
                "aten.zeros.default",
                "aten.empty.memory_format",
                "aten.unsqueeze.default",
                "aten.add_.Tensor",
                "aten.clone.default",  # of the listening test
            }
    assert [next(each, None) for each in calls.values()] == [None, None, None]


def test_nan_and_inf_of_every_result(
    both: tuple[Recording, dict[int, list[list[Noted]]]],
) -> None:
    recording, noted = both
    calls, found = iter(noted[FLOW_LM]), set()
    for frame in recording.frames[1:]:
        expected = [each for each in next(calls) if each[3] != FINITE]
        ops = [recording.ops.get(int(number)) for number in recording.ops.of_frame(frame.id)]
        ours = [
            (op.name, op.arguments, op.results, op.nan_out)
            for op in ops
            if op.part == FLOW_LM and op.nan_out != op.nan_in
        ]
        fresh = [each for each in ours if each[3] != FINITE]
        assert [each for each in expected if each in fresh] == fresh
        found |= {each[3] for each in expected}
    assert found == {INF}  # masks; a healthy run makes no NaN


def test_the_start_marker_comes_in_as_nan(
    both: tuple[Recording, dict[int, list[list[Noted]]]],
) -> None:
    """The first latent is NaN, which the model replaces by a learned vector."""
    recording, _ = both
    for frame in recording.frames[2:4]:
        ops = [recording.ops.get(int(number)) for number in recording.ops.of_frame(frame.id)]
        replaced = [(op.nan_in, op.nan_out) for op in ops if op.name.startswith("aten.where")]
        tested = [op.nan_in for op in ops if op.name.startswith("aten.isnan")]
        assert replaced[0] == ((NAN if frame.step == 0 else FINITE), FINITE)
        assert tested == [NAN if frame.step == 0 else FINITE]


def test_nan_travels_through_views_and_ops() -> None:
    bad = torch.tensor([[1.0, float("nan")], [1.0, 2.0]])
    ops = traced(lambda: (bad.t() + 1)[0].nan_to_num().sum())
    assert [(op.name.split(".")[1], op.nan_in, op.nan_out) for op in ops] == [
        ("t", NAN, NAN),
        ("add", NAN, NAN),
        ("select", NAN, NAN),
        ("nan_to_num", NAN, FINITE),
        ("sum", FINITE, FINITE),
    ]


def test_infinity_is_told_from_nan() -> None:
    big = torch.tensor([3e38, 3e38])
    ops = traced(lambda: big * 10 - big * 10)
    assert [op.nan_out for op in ops] == [INF, INF, NAN]


def test_many_finite_halves_are_finite() -> None:
    """Their sum is past 65,504."""
    outside = torch.full((4096,), 100.0, dtype=torch.float16)
    ops = traced(lambda: [(outside + 1).sort(), outside * 1000])
    assert [(op.nan_in, op.nan_out) for op in ops] == [
        (FINITE, FINITE),
        (FINITE, FINITE),
        (FINITE, INF),
    ]


def test_memory_that_nobody_wrote_is_not_looked_at() -> None:
    poison = [torch.full((1000,), float("nan")) for _ in range(50)]
    del poison
    ops = traced(lambda: [torch.empty(1000) for _ in range(50)])
    assert {op.nan_out for op in ops} == {FINITE}


def test_module_line_and_thread_of_an_op() -> None:
    ops = traced(lambda: torch.ones(2) + 1)
    file, line, function = ops[1].site
    assert Path(file).name == "test_tracer.py"
    assert function == "<lambda>"
    assert "torch.ones(2) + 1" in Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1]
    assert ops[1].thread == "MainThread"
    assert ops[1].module == ""
    assert all(op.took_ns > 0 for op in ops)
