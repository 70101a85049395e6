"""Slots that a view covers, against marking its elements one by one."""

from itertools import pairwise
from typing import NamedTuple

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvstudio.engine.geometry import BOTH, CacheGeometry, K, V, covered_cells, covered_slots

Ranges = tuple[tuple[int, int, int], ...]


class Case(NamedTuple):
    """A cache whose elements are numbered, and some view of it."""

    geometry: CacheGeometry
    cache: torch.Tensor
    view: torch.Tensor


def cache_of(batch: int, slots: int, heads: int, dim: int) -> torch.Tensor:
    """`[2, B, T, H, D]`, every element its own place in the storage."""
    count = 2 * batch * slots * heads * dim
    return torch.arange(count).view(2, batch, slots, heads, dim)


def covered(view: torch.Tensor, geometry: CacheGeometry) -> Ranges:
    return covered_slots(geometry, view.storage_offset(), tuple(view.shape), tuple(view.stride()))


def as_sets(ranges: Ranges) -> dict[int, set[int]]:
    """The slots of K and of V."""
    slots: dict[int, set[int]] = {K: set(), V: set()}
    for kv, first, last in ranges:
        for half in (K, V) if kv == BOTH else (kv,):
            slots[half] |= set(range(first, last))
    return slots


def marked(case: Case) -> dict[int, set[int]]:
    """The same, from the numbers that the view shows."""
    touched = torch.zeros(case.cache.numel(), dtype=torch.bool)
    touched[case.view.reshape(-1)] = True
    by_slot = touched.view(case.cache.shape).any(4).any(3).any(1)  # [2, T]
    return {kv: set(torch.nonzero(by_slot[kv]).flatten().tolist()) for kv in (K, V)}


def cells(view: torch.Tensor, geometry: CacheGeometry) -> set[int]:
    shape, stride = tuple(view.shape), tuple(view.stride())
    return set(covered_cells(geometry, view.storage_offset(), shape, stride).tolist())


def marked_cells(case: Case) -> set[int]:
    """The cells (half, batch, slot, head) of the numbers that the view shows."""
    return set((case.view.reshape(-1) // case.geometry.dim).tolist())


@st.composite
def cases(draw: st.DrawFn) -> Case:
    sizes = [draw(st.integers(1, most)) for most in (3, 7, 4, 5)]
    cache = cache_of(*sizes)
    view = cache
    for _ in range(draw(st.integers(0, 5))):
        view = draw(st.sampled_from(MOVES))(draw, view)
    return Case(CacheGeometry(*sizes), cache, view)


def sliced(draw: st.DrawFn, view: torch.Tensor) -> torch.Tensor:
    if view.dim() == 0:
        return view
    dim = draw(st.integers(0, view.dim() - 1))
    first = draw(st.integers(0, view.shape[dim]))
    last = draw(st.integers(first, view.shape[dim]))
    index = [slice(None)] * view.dim()
    index[dim] = slice(first, last, draw(st.integers(1, 3)))
    return view[tuple(index)]


def selected(draw: st.DrawFn, view: torch.Tensor) -> torch.Tensor:
    dims = [dim for dim in range(view.dim()) if view.shape[dim]]
    if not dims:
        return view
    dim = draw(st.sampled_from(dims))
    return view.select(dim, draw(st.integers(0, view.shape[dim] - 1)))


def permuted(draw: st.DrawFn, view: torch.Tensor) -> torch.Tensor:
    return view.permute(draw(st.permutations(range(view.dim()))))


def expanded(draw: st.DrawFn, view: torch.Tensor) -> torch.Tensor:
    """A new leading dimension, or one of size 1 blown up; both without a stride."""
    sizes = [draw(st.integers(1, 3)) if size == 1 else size for size in view.shape]
    return view.expand(draw(st.integers(1, 2)), *sizes)


def unfolded(draw: st.DrawFn, view: torch.Tensor) -> torch.Tensor:
    dims = [dim for dim in range(view.dim()) if view.shape[dim]]
    if not dims:
        return view
    dim = draw(st.sampled_from(dims))
    return view.unfold(dim, draw(st.integers(1, view.shape[dim])), draw(st.integers(1, 2)))


def flattened(draw: st.DrawFn, view: torch.Tensor) -> torch.Tensor:
    """The elements in a row, if they lie so that this is a view, and a part of that row."""
    if not view.is_contiguous() or view.numel() == 0:
        return view
    flat = view.view(-1)
    first = draw(st.integers(0, flat.numel() - 1))
    return flat[first : draw(st.integers(first, flat.numel()))]


def restrided(draw: st.DrawFn, view: torch.Tensor) -> torch.Tensor:
    """Any shape and strides that stay within the storage."""
    room = view.untyped_storage().nbytes() // view.element_size() - 1
    offset = draw(st.integers(0, room))
    shape, strides = [], []
    reach = offset
    for _ in range(draw(st.integers(0, 3))):
        stride = draw(st.integers(0, room))
        most = 4 if stride == 0 else min(4, (room - reach) // stride + 1)
        size = draw(st.integers(0, most))
        reach += max(0, size - 1) * stride
        shape.append(size)
        strides.append(stride)
    return view.as_strided(shape, strides, offset)


MOVES = (sliced, selected, permuted, expanded, unfolded, flattened, restrided)


@settings(
    max_examples=2000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(cases())
def test_covers_what_the_elements_say_in_as_few_ranges_as_can_be(case: Case) -> None:
    ranges = covered(case.view, case.geometry)
    assert as_sets(ranges) == marked(case)
    assert cells(case.view, case.geometry) == marked_cells(case)
    if case.view.numel() == 0:
        assert len(ranges) == 1
    for kv, first, last in ranges:
        assert kv in (K, V, BOTH)
        assert 0 <= first <= last <= case.geometry.slots
    for half in (K, V):
        own = [(first, last) for kv, first, last in ranges if kv in (half, BOTH)]
        assert all(earlier[1] < later[0] for earlier, later in pairwise(own)), (
            "neighbours are one range, in order"
        )


@pytest.mark.parametrize(("half", "kv"), [(0, K), (1, V)])
@pytest.mark.parametrize("slot", [0, 3, 6])
def test_view_without_elements_tells_where_it_would_begin(half: int, kv: int, slot: int) -> None:
    geometry = CacheGeometry(1, 7, 2, 3)
    view = cache_of(1, 7, 2, 3)[half, :, slot:slot]
    expected = (kv, slot, slot)
    if (half, slot) == (1, 0):  # the same place as the end of K, and cannot be told from it
        expected = (K, 7, 7)
    assert covered(view, geometry) == (expected,)


@pytest.mark.parametrize(("half", "kv"), [(0, K), (1, V)])
def test_write_past_capacity_is_at_the_capacity(half: int, kv: int) -> None:
    cache = cache_of(1, 7, 2, 3)
    assert covered(cache[half, :, 7:8], CacheGeometry(1, 7, 2, 3)) == ((kv, 7, 7),)


def test_halves_are_told_apart() -> None:
    geometry = CacheGeometry(2, 5, 2, 3)
    cache = cache_of(2, 5, 2, 3)
    assert covered(cache[:, :, 1:3], geometry) == ((BOTH, 1, 3),)
    assert covered(cache[0, :, 1:3], geometry) == ((K, 1, 3),)
    assert covered(cache[1, :, 1:3], geometry) == ((V, 1, 3),)
    assert covered(cache[1, 1:, 4:], geometry) == ((V, 4, 5),)
    across = cache.view(-1)[geometry.half - 6 : geometry.half + 6]
    assert covered(across, geometry) == ((K, 4, 5), (V, 0, 1))
