"""Columns by name, and where each key leads."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from kvstudio.app.layer.geometry import Cell, Columns, stepped

COLUMNS = Columns(1, heads=4, dim=8)
ROWS = [30, 30]
PLAIN = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
K = Qt.Key


@pytest.mark.parametrize(
    ("pressed", "held", "goes_to"),
    [
        (K.Key_Up, PLAIN, Cell(0, 4, 9)),
        (K.Key_Down, PLAIN, Cell(0, 6, 9)),
        (K.Key_Left, PLAIN, Cell(0, 5, 8)),
        (K.Key_Right, PLAIN, Cell(0, 5, 10)),
        (K.Key_Right, CTRL, Cell(0, 5, 17)),
        (K.Key_Left, CTRL, Cell(0, 5, 1)),
        (K.Key_PageDown, PLAIN, Cell(0, 21, 9)),
        (K.Key_PageUp, PLAIN, Cell(0, 0, 9)),
        (K.Key_Home, PLAIN, Cell(0, 5, 0)),
        (K.Key_End, PLAIN, Cell(0, 5, 31)),
        (K.Key_Home, CTRL, Cell(0, 0, 9)),
        (K.Key_End, CTRL, Cell(0, 29, 9)),
        (K.Key_V, PLAIN, Cell(1, 5, 9)),
        (K.Key_K, PLAIN, Cell(0, 5, 9)),
    ],
)
def test_keys_walk(pressed: Qt.Key, held: Qt.KeyboardModifier, goes_to: Cell) -> None:
    assert stepped(Cell(0, 5, 9), pressed, held, ROWS, COLUMNS) == goes_to


def test_the_edges_hold() -> None:
    last = Cell(1, 29, 31)
    for pressed in (K.Key_Down, K.Key_Right, K.Key_PageDown, K.Key_End):
        assert stepped(last, pressed, PLAIN, ROWS, COLUMNS) == last


def test_before_and_after_stay_apart_when_k_and_v_change_places() -> None:
    rows = [19, 210, 19, 210]
    assert stepped(Cell(1, 100, 3), K.Key_V, PLAIN, rows, COLUMNS) == Cell(3, 100, 3)
    assert stepped(Cell(2, 10, 3), K.Key_K, PLAIN, rows, COLUMNS) == Cell(0, 10, 3)


def test_other_keys_do_not_walk() -> None:
    assert stepped(Cell(0, 5, 9), K.Key_A, PLAIN, ROWS, COLUMNS) is None
    assert stepped(None, K.Key_Down, PLAIN, [], COLUMNS) is None
    assert stepped(None, K.Key_Down, PLAIN, ROWS, COLUMNS) == Cell(0, 0, 0)


def test_columns_are_named() -> None:
    assert COLUMNS.words(17) == "head 2, dim 1"
    batch = Columns(2, heads=4, dim=8)
    assert len(batch) == 64
    assert batch.words(33) == "batch 1, head 0, dim 1"
    assert [batch.head_label(group) for group in (3, 4)] == ["b0 h3", "b1 h0"]
