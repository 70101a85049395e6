"""Every value has a code, every state has its own, and no state is ever taken for a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from kvstudio.app.codes import BLOCK_VALUES, Code, encode, lookup_table, quantile, robust_range
from kvstudio.app.theme import DARK, LIGHT, Palette

if TYPE_CHECKING:
    from numpy.typing import NDArray

floats32 = st.floats(width=32, allow_nan=True, allow_infinity=True)
matrices = array_shapes(min_dims=2, max_dims=3, max_side=6).flatmap(
    lambda shape: st.tuples(
        arrays(np.float32, shape, elements=floats32),
        arrays(np.bool_, shape, elements=st.booleans()),
    )
)
ranges = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


def expected_code(value: float, low: float, high: float) -> float:
    """Where the value lies on the scale of codes, before rounding and saturation."""
    return Code.LOWEST + (value - low) / (high - low) * (Code.HIGHEST - Code.LOWEST)


@given(matrices, ranges)
def test_each_value_gets_its_code(
    matrix: tuple[NDArray[np.float32], NDArray[np.bool_]], bounds: tuple[float, float]
) -> None:
    values, written = matrix
    low, high = bounds
    # float32 resolves a value near a far-off range only to this many codes
    slack = 0.51 + 250 * float(np.spacing(np.float32(max(abs(low), abs(high))))) / (high - low)
    codes = encode(values, written, low, high)
    for value, known, code in zip(values.flat, written.flat, codes.flat, strict=True):
        if not known:
            assert code == Code.UNWRITTEN
        elif np.isnan(value):
            assert code == Code.NAN
        elif np.isinf(value):
            assert code == (Code.POS_INF if value > 0 else Code.NEG_INF)
        else:
            wanted = np.clip(expected_code(float(value), low, high), Code.BELOW, Code.ABOVE)
            assert abs(float(code) - wanted) <= slack


@given(arrays(np.float32, st.integers(1, 40), elements=st.floats(-4, 4, width=32)))
def test_codes_keep_the_order_of_values(values: NDArray[np.float32]) -> None:
    ordered = np.sort(values)
    codes = encode(ordered, np.ones(len(ordered), np.bool_), -2.0, 2.0)
    assert (np.diff(codes.astype(int)) >= 0).all()


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param(-2.0, Code.LOWEST, id="low"),
        pytest.param(0.0, Code.MIDDLE, id="zero is the middle"),
        pytest.param(2.0, Code.HIGHEST, id="high"),
        pytest.param(-2.1, Code.BELOW, id="below the range"),
        pytest.param(2.1, Code.ABOVE, id="above the range"),
        pytest.param(-3.4e38, Code.BELOW, id="far below"),
        pytest.param(3.4e38, Code.ABOVE, id="far above"),
    ],
)
def test_the_ends_of_the_range(value: float, code: Code) -> None:
    assert encode(np.full((1, 1), value, np.float32), np.ones(1, np.bool_), -2, 2)[0, 0] == code


def test_written_may_be_said_per_slot_or_per_head() -> None:
    values = np.zeros((3, 2, 4), np.float32)
    per_slot = encode(values, np.array([True, False, True]), -1, 1)
    assert (per_slot[1] == Code.UNWRITTEN).all()
    assert (per_slot[[0, 2]] == Code.MIDDLE).all()
    heads = np.array([[True, False], [False, False], [True, True]])
    per_head = encode(values, heads, -1, 1)
    assert (per_head[0, 0] == Code.MIDDLE).all()
    assert (per_head[0, 1] == Code.UNWRITTEN).all()


def test_a_mask_hides_values_but_never_a_nan_or_an_unwritten_slot() -> None:
    values = np.array([[1.0, np.nan, np.inf, -np.inf], [1.0, 1.0, 1.0, 1.0]], np.float32)
    codes = encode(values, np.array([True, False]), -2, 2, masked=np.array([True, True]))
    assert codes[0].tolist() == [Code.MASKED, Code.NAN, Code.POS_INF, Code.NEG_INF]
    assert (codes[1] == Code.UNWRITTEN).all()


def test_codes_are_written_where_the_caller_says() -> None:
    ground = np.full((4, 3), Code.UNWRITTEN, np.uint8)
    returned = encode(np.zeros((1, 3), np.float32), np.ones(1, np.bool_), -1, 1, out=ground[2:3])
    assert returned.base is ground
    assert (ground == Code.MIDDLE).sum(axis=1).tolist() == [0, 0, 3, 0]


def test_rows_longer_and_more_than_a_block_are_all_encoded() -> None:
    values = np.zeros((5, BLOCK_VALUES // 2 + 7), np.float32)
    values[4, -1] = np.nan
    codes = encode(values, np.array([True, True, False, True, True]), -1, 1)
    assert np.unique(codes[[0, 1, 3]]).tolist() == [Code.MIDDLE]
    assert codes[4, -1] == Code.NAN


def test_a_view_that_is_not_contiguous_is_encoded_alike() -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    written = np.ones(6, np.bool_)
    straight = encode(np.ascontiguousarray(values.T), written, 0, 23)
    assert np.array_equal(encode(values.T, written, 0, 23), straight)


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))]
)
def test_a_range_that_is_none_is_refused_in_words(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="low < high"):
        encode(np.zeros((1, 1), np.float32), np.ones(1, np.bool_), low, high)


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=3, max_side=8), elements=floats32))
def test_the_fitted_range_can_always_be_painted(values: NDArray[np.float32]) -> None:
    low, high = robust_range(values)
    assert low == -high
    encode(values, np.ones(len(values), np.bool_), low, high)


def test_the_fitted_range_ignores_a_few_outliers_and_whatever_is_not_written() -> None:
    values = np.random.default_rng(1).normal(size=(2000, 100)).astype(np.float32)
    values[3, 3] = 1e6
    values[1000:] = 50.0
    written = np.arange(2000) < 1000
    low, high = robust_range(values, written)
    assert 2.0 < high < 4.0
    assert low == -high


@pytest.mark.parametrize("fill", [0.0, float("nan")], ids=["all zero", "all NaN"])
def test_the_fitted_range_of_nothing_is_one(fill: float) -> None:
    assert robust_range(np.full((3, 3), fill, np.float32)) == (-1.0, 1.0)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_no_state_has_the_colour_of_a_value(palette: Palette) -> None:
    table = lookup_table(palette).astype(int)
    assert (table[:, 3] == 255).all()
    values = table[Code.BELOW : Code.ABOVE + 1, :3]
    for state in (Code.MASKED, Code.POS_INF, Code.NAN):
        assert np.abs(values - table[state, :3]).sum(axis=1).min() > 30


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_map_leaves_zero_evenly_on_both_sides(palette: Palette) -> None:
    table = lookup_table(palette).astype(int)
    steps = np.abs(np.diff(table[Code.LOWEST : Code.HIGHEST + 1, :3], axis=0)).sum(axis=1)
    assert steps.max() < 20
    assert np.abs(table[Code.LOWEST] - table[Code.HIGHEST]).sum() > 150


def test_a_cache_without_slots_has_no_codes() -> None:
    assert encode(np.empty((0, 4), np.float32), np.empty(0, np.bool_), -1, 1).shape == (0, 4)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_quantile_is_that_of_numpy(size: int) -> None:
    values = np.random.default_rng(size).standard_normal(size)
    for share in (0.0, 0.0025, 0.5, 0.995, 1.0):
        assert quantile(values, share) == pytest.approx(np.quantile(values, share))
