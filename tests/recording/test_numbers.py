"""Slots that hold a NaN or an Inf are told from the others, write by write."""

import numpy as np

from kvstudio.recording.numbers import FINITE, INF, NAN, delta_rows, worst_numbers
from kvstudio.recording.rows import Floats, SlotDelta


def slots(count: int) -> Floats:
    return np.ones((2, 1, count, 2, 3), np.float32)


def test_one_number_is_enough() -> None:
    values = slots(4)
    values[1, 0, 2, 1, 2] = np.nan
    values[0, 0, 3, 0, 0] = -np.inf
    assert worst_numbers(values).tolist() == [FINITE, FINITE, NAN, INF]


def test_a_write_is_kept_in_runs_of_slots_that_are_alike() -> None:
    values = slots(5)
    values[0, 0, 1:3] = np.nan
    rows = delta_rows(SlotDelta(7, 10, 15, values))
    assert [row[:4] for row in rows] == [(7, 10, 11, 0), (7, 11, 13, NAN), (7, 13, 15, 0)]
    assert sum(len(row[4]) for row in rows) == values.nbytes


def test_a_write_without_values_stays_one() -> None:
    assert delta_rows(SlotDelta(7, 10, 15, None)) == [(7, 10, 15, FINITE, b"")]
