"""Seconds and pixels: what is in view, and that nothing beyond the ends ever is."""

from __future__ import annotations

import pytest

from kvstudio.app.sound.time_axis import (
    SHORTEST_S,
    TimeAxis,
    axis_end,
    round_step,
    second_words,
)

WHOLE = TimeAxis(0.0, 10.0, 10.0, left=50.0, width=1_000.0)


def test_seconds_and_pixels_are_each_others_inverse() -> None:
    assert [WHOLE.x_of(second) for second in (0, 5, 10)] == [50, 550, 1_050]
    assert WHOLE.second_at(WHOLE.x_of(3.25)) == pytest.approx(3.25)


def test_what_is_under_the_pointer_stays_there() -> None:
    near = WHOLE.zoomed(8, around=7.5)
    assert near.span == pytest.approx(1.25)
    assert near.x_of(7.5) == pytest.approx(WHOLE.x_of(7.5))


@pytest.mark.parametrize("around", [0.0, 3.0, 10.0])
def test_magnifying_ends_somewhere(around: float) -> None:
    nearest = WHOLE.zoomed(1e9, around)
    assert nearest.span == pytest.approx(SHORTEST_S)
    assert nearest.zoomed(1e-9, around).is_whole


def test_the_view_never_leaves_the_recording() -> None:
    near = WHOLE.zoomed(10, around=5)
    assert near.panned(100).last == pytest.approx(10)
    assert near.panned(-100).first == 0
    assert WHOLE.panned(3) == WHOLE


def test_revealing_moves_no_more_than_it_must() -> None:
    near = WHOLE.zoomed(10, around=5)
    assert near.revealing(4.9, 5.0) is near
    for first, last in ((8.0, 8.08), (1.0, 1.08), (9.92, 10.0), (0.0, 0.08)):
        seen = near.revealing(first, last)
        assert seen.first <= first
        assert last <= seen.last
        assert seen.span == pytest.approx(near.span)


def test_a_whole_view_stays_whole_and_a_part_stays_a_part_when_it_grows() -> None:
    assert WHOLE.placed(0, 500, 13.0).is_whole
    near = WHOLE.zoomed(10, around=5)
    grown = near.placed(0, 500, 13.0)
    assert (grown.first, grown.last) == (near.first, near.last)


def test_a_growing_axis_has_room_and_rarely_changes() -> None:
    ends = [axis_end(frames * 0.08, growing=True) for frames in range(1, 751)]
    assert all(end >= (n + 1) * 0.08 - 1e-9 for n, end in enumerate(ends))
    assert all(end <= 1.31 * (n + 1) * 0.08 for n, end in enumerate(ends) if n > 12)
    assert len(set(ends)) < 20
    assert axis_end(2.48, growing=False) == 2.48
    assert axis_end(0.0, growing=False) > 0


@pytest.mark.parametrize(
    ("least", "step"), [(0.0012, 0.002), (0.03, 0.05), (0.5, 0.5), (0.7, 1), (6, 10), (1, 1)]
)
def test_steps_are_round(least: float, step: float) -> None:
    assert round_step(least) == pytest.approx(step)


@pytest.mark.parametrize(
    ("second", "step", "words"),
    [(3, 1, "3 s"), (20, 10, "20 s"), (0.5, 0.5, "0.5 s"), (0.125, 0.005, "0.125 s")],
)
def test_seconds_are_as_exact_as_their_distance(second: float, step: float, words: str) -> None:
    assert second_words(second, step) == words
