"""The scan finds every unwritten run and every NaN, whichever way the slots run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from kvstudio.app.codes import Code
from kvstudio.app.painting import code_scan
from kvstudio.app.painting.code_scan import Region, scan

if TYPE_CHECKING:
    import pytest
    from numpy.typing import NDArray

codes_of_all_kinds = arrays(
    np.uint8,
    array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.sampled_from([0, 125, 250, 251, 252, 253, 254, 255, 255, 255]),
)


@given(codes_of_all_kinds)
def test_every_cell_is_accounted_for(codes: NDArray[np.uint8]) -> None:
    seen = scan(codes)
    rows = np.zeros(len(codes), int)
    for first, end in seen.unwritten_rows:
        assert (codes[first:end] == Code.UNWRITTEN).all()
        rows[first:end] += 1
    for first, end in seen.other_rows:
        assert (codes[first:end] != Code.UNWRITTEN).any(axis=1).all()
        rows[first:end] += 1
    assert (rows == 1).all()
    others = ~(codes == Code.UNWRITTEN).all(axis=1)
    assert seen.has_loose_unwritten == bool((codes[others] == Code.UNWRITTEN).any())
    special = (codes >= Code.NEG_INF) & (codes <= Code.NAN)
    assert sorted(seen.special.tolist()) == np.flatnonzero(special).tolist()


def test_unwritten_rows_carry_the_word() -> None:
    codes = np.full((6, 3), Code.MIDDLE, np.uint8)
    codes[4:] = Code.UNWRITTEN
    assert scan(codes).regions(6, 3) == [Region(Code.UNWRITTEN, (4, 6), (0, 3))]


def test_unwritten_columns_carry_the_word_when_slots_run_sideways() -> None:
    codes = np.full((3, 6), Code.MIDDLE, np.uint8)
    codes[:, 2:] = Code.UNWRITTEN
    assert scan(codes).regions(3, 6) == [Region(Code.UNWRITTEN, (0, 3), (2, 6))]


def test_a_matrix_without_cells_has_nothing_to_find() -> None:
    seen = scan(np.empty((0, 5), np.uint8))
    assert (seen.regions(0, 5), seen.has_loose_unwritten, seen.special.size) == ([], False, 0)


def test_a_flood_of_nan_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_scan, "MOST_SPECIAL", 3)
    assert scan(np.full((2, 2), Code.NAN, np.uint8)).special.size == 0
