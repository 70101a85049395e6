"""A thousand slots on a few pixels: nothing loud gets lost, nothing quiet gets in the way."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from kvstudio.app.painting.strip_runs import LOUD, Run, pixel_roles, runs, stacked
from kvstudio.app.painting.strips import PaintedRole, painted_roles
from kvstudio.recording.roles import SlotRole

if TYPE_CHECKING:
    from numpy.typing import NDArray

R = PaintedRole
role_matrices = arrays(
    np.uint8,
    array_shapes(min_dims=2, max_dims=2, max_side=30),
    elements=st.sampled_from([int(role) for role in PaintedRole]),
)


def test_the_painted_roles_keep_the_numbers_of_the_recording() -> None:
    assert [PaintedRole(role).name for role in SlotRole] == [role.name for role in SlotRole]


def test_what_must_not_be_overlooked_is_singled_out() -> None:
    roles = np.array(
        [R.VOICE, R.UNWRITTEN, R.TEXT, R.GENERATED, R.GENERATED, R.UNWRITTEN], np.uint8
    )
    painted = painted_roles(
        roles,
        5,
        nan=np.array([3]),
        inf=np.array([False, False, False, False, True, False]),
        edited=np.array([2, 3]),
    )
    assert painted.tolist() == [R.VOICE, R.HOLE, R.EDITED, R.NAN, R.INF, R.UNWRITTEN]
    assert roles[1] == R.UNWRITTEN


def test_rows_of_different_lengths_are_filled_up_with_nothing() -> None:
    rows = stacked([np.array([1, 1], np.uint8), np.array([2], np.uint8)], 3)
    assert rows.tolist() == [[1, 1, R.NOTHING], [2, R.NOTHING, R.NOTHING]]


def test_magnified_slots_take_many_pixels() -> None:
    roles = np.array([[R.VOICE, R.TEXT, R.GENERATED]], np.uint8)
    assert pixel_roles(roles, 0, 1 / 3, 9)[0].tolist() == [R.VOICE] * 3 + [R.TEXT] * 3 + [3] * 3


def test_the_left_edge_may_lie_within_a_slot() -> None:
    roles = np.array([[R.VOICE, R.TEXT]], np.uint8)
    pixels = pixel_roles(roles, 0.5, 0.25, 8)[0].tolist()
    assert pixels == [R.VOICE] * 2 + [R.TEXT] * 4 + [R.NOTHING] * 2


@pytest.mark.parametrize("slot", [0, 1, 517, 998, 999])
def test_one_bad_slot_among_a_thousand_stays_visible(slot: int) -> None:
    roles = np.full((1, 1000), R.GENERATED, np.uint8)
    roles[0, slot] = R.NAN
    pixels = pixel_roles(roles, 0, 1000 / 64, 64, 3)[0]
    seen = np.flatnonzero(pixels == R.NAN)
    assert 2 <= len(seen) <= 3
    assert seen[0] - 1 <= slot * 64 / 1000 <= seen[-1] + 1


def test_the_worse_of_two_states_in_one_pixel_wins() -> None:
    roles = np.array([[R.GENERATED, R.STALE, R.NAN, R.DROPPED, R.UNWRITTEN, R.VOICE]], np.uint8)
    assert pixel_roles(roles, 0, 2, 3)[0].tolist() == [R.STALE, R.NAN, R.VOICE]


@given(role_matrices, st.floats(0.05, 8), st.floats(0, 10), st.integers(1, 4))
def test_every_loud_slot_in_sight_is_painted_at_least_as_loud(
    roles: NDArray[np.uint8], slots_per_pixel: float, first: float, least: int
) -> None:
    width = 24
    pixels = pixel_roles(roles, first, slots_per_pixel, width, least)
    loudness = {role: rank for rank, role in enumerate(LOUD)}
    for row, line in enumerate(roles):
        for slot, role in enumerate(line):
            at = (slot + 0.5 - first) / slots_per_pixel
            if role in LOUD and 1 <= at < width - 1:
                near = pixels[row, int(at) - 1 : int(at) + 2]
                assert max(loudness.get(PaintedRole(p), -1) for p in near) >= loudness[role]


@given(role_matrices)
def test_runs_are_the_matrix_again(roles: NDArray[np.uint8]) -> None:
    again = np.full(roles.shape, PaintedRole.NOTHING, np.uint8)
    found = runs(roles)
    for run in found:
        assert run.first < run.end
        again[run.row, run.first : run.end] = run.role
    assert np.array_equal(again, roles)
    for one, other in pairwise(found):
        touching = one.row == other.row and one.end == other.first
        assert not (touching and one.role == other.role), "runs are as long as can be"


def test_short_runs_can_be_left_out() -> None:
    roles = np.array([[1, 1, 1, 2, 3, 3]], np.uint8)
    assert runs(roles, 2) == [Run(0, 0, 3, 1), Run(0, 4, 6, 3)]


def test_no_slots_and_no_pixels_are_no_trouble() -> None:
    assert pixel_roles(np.empty((2, 0), np.uint8), 0, 1, 3).tolist() == [[R.NOTHING] * 3] * 2
    assert pixel_roles(np.ones((2, 4), np.uint8), 0, 1, 0).shape == (2, 0)
    assert runs(np.empty((0, 5), np.uint8)) == []
