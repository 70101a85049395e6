"""The shadow memory, against marking the numbers of a cache one by one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvstudio.engine.judging import Judged, judge
from kvstudio.engine.shadow import NOBODY, ShadowMemory, Watched
from kvstudio.engine.tracer import OpKnowledge, OpTracer
from kvstudio.recording.evidence import Misuse
from kvstudio.recording.rows import Cache
from tests.engine.test_geometry import MOVES

FRAME = 7
KNOWLEDGE = OpKnowledge()


class Bench:
    """One cache of which the first `used` slots are written, and a tracer around what is done."""

    def __init__(
        self, used: int = 3, sizes: tuple[int, ...] = (1, 6, 2, 4), fill: float = float("nan")
    ) -> None:
        self.cache = torch.full((2, *sizes), fill)
        self.cache[:, :, :used] = torch.rand(2, sizes[0], used, *sizes[2:]) + 1
        self.state = {"layer": {"cache": self.cache, "offset": torch.tensor([used])}}
        row = Cache(0, "flow_lm", "layer", 0, sizes[0], sizes[2], sizes[3], None, "f32", "cpu")
        self.memory = ShadowMemory({"layer": row})
        self.memory.begin(self.state)

    def move(self, offset: int) -> None:
        self.state["layer"]["offset"] = torch.tensor([offset])

    def do(self, work: Callable[[torch.Tensor], Any], frame: int = FRAME) -> Judged:
        keys = Watched(self.memory, self.state).bind()
        with OpTracer(KNOWLEDGE, keys) as tracer:
            work(self.state["layer"]["cache"])
        return judge(tracer, self.memory, frame)

    @property
    def writer(self) -> np.ndarray:
        """`[2, B, T, H]`."""
        shadow = self.memory.caches["layer"]
        g = shadow.geometry
        return shadow.writer.reshape(2, g.batch, g.slots, g.heads)


def kinds(judged: Judged) -> list[tuple[str, int, int, int]]:
    return [(each.kind, each.kv, each.first, each.last) for each in judged.misuses]


def test_reading_what_is_written_is_fine() -> None:
    assert Bench().do(lambda cache: cache[:, :, :3].sum()).misuses == []


def test_reading_one_slot_too_far_is_an_unwritten_read() -> None:
    judged = Bench().do(lambda cache: cache[1, :, :4] * 2)
    assert kinds(judged) == [("unwritten-read", 1, 3, 4)]
    assert judged.misuses[0].fill == "nan"
    assert judged.misuses[0].masked is None
    assert judged.calls[judged.misuses[0].op].facts.name == "aten.mul.Tensor"


def test_zeros_are_unwritten_too() -> None:
    judged = Bench(fill=0.0).do(lambda cache: cache[:, :, :5].sum())
    assert kinds(judged) == [("unwritten-read", 2, 3, 5)]
    assert judged.misuses[0].fill == "zero"


def test_only_the_heads_that_were_left_out_are_unwritten() -> None:
    bench = Bench()

    def one_head(cache: torch.Tensor) -> None:
        cache[:, :, 3, 0] = 1.0

    bench.do(one_head)
    bench.move(4)
    judged = bench.do(lambda cache: cache[:, :, :4].sum(), frame=8)
    (found,) = judged.misuses
    assert (found.kind, found.first, found.head_first, found.head_last) == (
        "unwritten-read",
        3,
        1,
        2,
    )


def test_looking_whether_a_number_is_nan_does_no_harm() -> None:
    assert Bench().do(lambda cache: torch.isnan(cache).any()).misuses == []


COPIES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "clone": lambda cache: cache.clone(),
    "half": lambda cache: cache.half(),
    "cat": lambda cache: torch.cat([torch.zeros(2, 1, 1, 2, 4), cache], dim=2)[:, :, 1:],
    "stack": lambda cache: torch.stack([cache, cache])[1],
    "index_select": lambda cache: cache.index_select(2, torch.arange(6)),
    "index": lambda cache: cache[:, :, torch.arange(6)],
    "repeat_interleave": lambda cache: cache.repeat_interleave(2, dim=3)[..., ::2, :],
    "where": lambda cache: torch.where(torch.ones(6, 1, 1).bool(), cache, 0.0),
    "masked_fill": lambda cache: cache.masked_fill(torch.zeros(6, 1, 1).bool(), 0.0),
    "roll": lambda cache: cache.roll(1, dims=2).roll(-1, dims=2),
    "flip": lambda cache: cache.flip(2).flip(2),
    "pad": lambda cache: torch.nn.functional.pad(cache, (0, 0, 0, 0, 1, 0))[:, :, 1:],
    "copy_": lambda cache: torch.empty_like(cache).copy_(cache),
    "new": lambda cache: _copied_into_new(cache),
    "gather": lambda cache: cache.gather(2, torch.arange(6).view(6, 1, 1).expand_as(cache)),
}


def _copied_into_new(cache: torch.Tensor) -> torch.Tensor:
    new = torch.zeros(2, 1, 8, 2, 4)
    new[:, :, 1:7] = cache
    return new[:, :, 1:7]


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_carries_the_shadow(name: str) -> None:
    bench = Bench()
    assert bench.do(lambda cache: COPIES[name](cache)[:, :, :3].sum()).misuses == []
    judged = bench.do(lambda cache: COPIES[name](cache)[:, :, 1:5].sum())
    assert kinds(judged) == [("unwritten-read", 2, 3, 5)]


def test_where_leaves_out_what_it_does_not_pick() -> None:
    mask = (torch.arange(6) < 3).view(6, 1, 1)
    assert Bench().do(lambda cache: torch.where(mask, cache, 0.0).sum()).misuses == []


@pytest.mark.parametrize(
    "write",
    [
        lambda cache: cache[:, :, 3:5].copy_(torch.ones(2, 1, 2, 2, 4)),
        lambda cache: cache.index_copy_(2, torch.tensor([3, 4]), torch.ones(2, 1, 2, 2, 4)),
        lambda cache: cache.index_fill_(2, torch.tensor([3, 4]), 1.0),
        lambda cache: cache.masked_fill_((torch.arange(6) // 3 == 1).view(6, 1, 1), 1.0),
        lambda cache: cache.scatter_(
            2, torch.tensor([3, 4]).view(2, 1, 1).expand(2, 1, 2, 2, 4), torch.ones(2, 1, 2, 2, 4)
        ),
        lambda cache: cache.__setitem__((slice(None), 0, torch.tensor([3, 4])), 1.0),
        lambda cache: cache[:, :, 3:5].fill_(1.0),
        lambda cache: cache[:, :, 3:5].zero_(),
    ],
)
def test_whatever_writes_a_slot_makes_it_written(write: Callable[[torch.Tensor], Any]) -> None:
    bench = Bench()
    assert bench.do(write).misuses == []
    assert (bench.writer[:, :, 3:5] == FRAME).all()
    assert (bench.writer[:, :, :3] == 0).all(), "the others are as they were"
    bench.move(5)
    assert bench.do(lambda cache: cache[:, :, :5].sum(), frame=8).misuses == []


def test_copying_an_unwritten_slot_does_not_write_it() -> None:
    bench = Bench()
    bench.do(lambda cache: cache[:, :, 3:4].copy_(cache[:, :, 4:5]))
    assert (bench.writer[:, :, 3] == NOBODY).all()


def test_writing_over_history_is_an_overwrite() -> None:
    judged = Bench().do(lambda cache: cache[0, :, 1:4].fill_(0.5))
    assert kinds(judged) == [("overwrite", 0, 1, 3)]
    assert judged.misuses[0].writer == 0


def test_writing_twice_in_one_frame_is_fine() -> None:
    def twice(cache: torch.Tensor) -> None:
        cache[:, :, 3] = 0.0
        cache[:, :, 3] = 1.0

    assert Bench().do(twice).misuses == []


def test_writing_past_the_capacity_is_dropped() -> None:
    def past(cache: torch.Tensor) -> None:
        cache[0, :, 6:7] = torch.ones(1, 1, 2, 4)
        cache[1, :, 6:7] = torch.ones(1, 1, 2, 4)

    judged = Bench(used=6).do(past)
    assert [(m.kind, m.kv, m.first) for m in judged.misuses] == [
        ("dropped-write", 0, 6),
        ("dropped-write", 1, 6),
    ]
    assert judged.calls[judged.misuses[0].op].facts.name == "aten.copy_.default"


def test_writing_nothing_is_no_dropped_write() -> None:
    def nothing(cache: torch.Tensor) -> None:
        cache[0, :, 3:3] = torch.ones(1, 0, 2, 4)

    assert Bench().do(nothing).misuses == []


def test_reading_what_is_left_of_an_earlier_run_is_stale() -> None:
    bench = Bench(used=5)
    assert bench.do(lambda cache: cache[:, :, :5].sum()).misuses == []
    bench.move(3)
    assert bench.do(lambda cache: cache[:, :, :3].sum()).misuses == []
    assert kinds(bench.do(lambda cache: cache[:, :, :4].sum())) == [("stale-read", 2, 3, 4)]


@pytest.mark.parametrize("traced", [True, False])
def test_the_shadow_survives_an_expansion(traced: bool) -> None:
    bench = Bench()

    def expand(cache: torch.Tensor) -> None:
        larger = torch.full((2, 1, 9, 2, 4), float("nan"))
        larger[:, :, :6] = cache
        bench.state["layer"]["cache"] = larger

    if traced:
        bench.do(expand)
    else:
        expand(bench.cache)
    assert bench.do(lambda cache: cache[:, :, :3].sum()).misuses == []
    assert kinds(bench.do(lambda cache: cache[:, :, :4].sum())) == [("unwritten-read", 2, 3, 4)]
    assert bench.writer.shape == (2, 1, 9, 2)


def test_an_expansion_that_copies_too_little_is_seen() -> None:
    bench = Bench()

    def expand(cache: torch.Tensor) -> None:
        larger = torch.zeros(2, 1, 9, 2, 4)
        larger[:, :, :2] = cache[:, :, :2]
        bench.state["layer"]["cache"] = larger

    bench.do(expand)
    assert kinds(bench.do(lambda cache: cache[:, :, :3].sum())) == [("unwritten-read", 2, 2, 3)]


def test_a_new_chunk_on_a_copied_state_begins_afresh() -> None:
    bench = Bench()
    bench.do(lambda cache: cache[:, :, 3].fill_(1.0))
    bench.state = {"layer": {"cache": bench.cache.clone(), "offset": torch.tensor([3])}}
    bench.memory.begin(bench.state)
    # What another run wrote past the offset may be written over, but not read.
    assert kinds(bench.do(lambda cache: cache[:, :, :4].sum())) == [("stale-read", 2, 3, 4)]
    assert ("unwritten-read", 2, 4, 5) in kinds(bench.do(lambda cache: cache[:, :, :5].sum()))
    assert kinds(bench.do(lambda cache: cache[:, :, 3].zero_())) == []


def test_nan_comes_in_from_a_cache() -> None:
    judged = Bench().do(lambda cache: torch.nan_to_num(cache[:, :, :4]).sum())
    flags = dict(zip([call.facts.name for call in judged.calls], judged.flags, strict=True))
    assert flags["aten.nan_to_num.default"] == (1, 0)
    assert flags["aten.sum.default"] == (0, 0)


def marked(view: torch.Tensor, bench: Bench) -> set[tuple[int, int, int]]:
    """(kv, slot, head) that a view shows, by writing numbers into the cache's own elements."""
    count = bench.cache.numel()
    numbers = torch.arange(count).as_strided(view.shape, view.stride(), view.storage_offset())
    touched = torch.zeros(count, dtype=torch.bool)
    touched[numbers.reshape(-1)] = True
    cells = torch.nonzero(touched.view(bench.cache.shape).any(4).any(1)).tolist()
    return {(kv, slot, head) for kv, slot, head in cells}


def misused(found: list[Misuse]) -> set[tuple[int, int]]:
    return {
        (kv, slot)
        for each in found
        if each.kind == "unwritten-read"
        for kv in ((0, 1) if each.kv == 2 else (each.kv,))
        for slot in range(each.first, each.last)
    }


@settings(
    max_examples=500, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.data(), st.sets(st.tuples(st.booleans(), st.integers(0, 5), st.booleans())))
def test_a_use_of_any_view_is_judged_cell_by_cell(
    data: st.DataObject, holes: set[tuple[int, int, int]]
) -> None:
    """`holes`: K or V, slot and head of cells that nobody wrote."""
    bench = Bench(used=6, sizes=(2, 6, 2, 3))
    Watched(bench.memory, bench.state).bind()
    bench.writer[:] = 0
    for kv, slot, head in holes:
        bench.writer[int(kv), :, slot, int(head)] = NOBODY
    bench.move(6)
    copied = data.draw(st.booleans())
    views: list[torch.Tensor] = []
    moves = data.draw(st.lists(st.sampled_from(MOVES), max_size=4))
    draw: Any = data.draw

    def use(cache: torch.Tensor) -> None:
        view = cache
        for move in moves:
            view = move(draw, view)
        views.append(view)
        (view.clone() if copied else view) * 2

    judged = bench.do(use)
    expected = {(kv, slot) for kv, slot, _ in marked(views[0], bench) & holes}
    assert misused(judged.misuses) == expected
