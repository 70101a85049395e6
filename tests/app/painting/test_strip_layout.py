"""Places on the screen and back again: what is drawn at a point is what a click there finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF

from kvstudio.app.painting.strip_layout import (
    HIGHEST_ROW,
    LOWEST_ROW,
    Sight,
    arrange,
    tick_step,
)

DEMO = [(6, 210), (2, 1000)]


@given(
    st.lists(st.tuples(st.integers(1, 24), st.integers(1, 4000)), min_size=1, max_size=3),
    st.floats(1, 30),
    st.floats(0, 300),
    st.data(),
)
def test_a_click_on_a_slot_finds_the_slot(
    sizes: list[tuple[int, int]], zoom: float, scrolled: float, data: st.DataObject
) -> None:
    layout = arrange(sizes, 50, 800, 300)
    sight = Sight(zoom, scrolled, scrolled)
    group = data.draw(st.sampled_from(layout.groups))
    layer = group.first_layer + data.draw(st.integers(0, group.layers - 1))
    slot = data.draw(st.integers(0, group.slots - 1))
    centre = layout.slots_rect(layer, slot, slot + 1, sight).center()
    expected = (layer, slot) if layout.gutter <= centre.x() <= layout.width else None
    assert layout.hit(centre, sight) == expected


@pytest.mark.parametrize(
    "point",
    [
        pytest.param((10, 50), id="on the names"),
        pytest.param((400, 10), id="on the ruler"),
        pytest.param((400, 900), id="below everything"),
        pytest.param((799, 50), id="right of the last slot"),
    ],
)
def test_there_is_nothing_beside_the_strips(point: tuple[float, float]) -> None:
    assert arrange(DEMO, 50, 800, 300).hit(QPointF(*point), Sight()) is None


@pytest.mark.parametrize("height", [50, 300, 2000])
def test_rows_fill_the_height_but_stay_legible(height: float) -> None:
    layout = arrange([(24, 1000), (4, 4000)], 50, 800, height)
    row = layout.groups[0].row_height
    assert LOWEST_ROW <= row <= HIGHEST_ROW
    assert layout.height <= height or row == LOWEST_ROW


def test_groups_lie_below_each_other() -> None:
    first, second = arrange(DEMO, 50, 800, 300).groups
    assert (first.first_layer, second.first_layer) == (0, 6)
    assert first.bottom < second.top


def test_no_groups_have_no_height() -> None:
    layout = arrange([], 50, 800, 300)
    assert (layout.height, layout.layer_at(20, Sight()), layout.greatest_zoom) == (0, None, 1)


@given(st.floats(0.01, 1e5))
def test_ticks_are_round_numbers_with_room_for_their_labels(slots: float) -> None:
    step = tick_step(slots)
    assert step >= slots
    assert step / slots <= 2.5 or step == 1
    assert str(step).strip("0") in {"1", "2", "5"}
