"""The tensors panel: every tensor of the state, what changed, what does not fit."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider
from pytestqt.qtbot import QtBot

from kvstudio.app.panels.tensors import TensorsPanel
from kvstudio.app.tensor_rows import COLUMNS, NAME
from kvstudio.app.theme import apply_theme
from tests.app.panels.conftest import OpenPanel
from tests.fakes import FakeRun
from tests.recording.reading import tamper

Show = Callable[[Path | None], TensorsPanel]
MARK = 0
COLUMN = {column.title: number for number, column in enumerate(COLUMNS)}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Two FlowLM layers: a cache and an offset each; seven of capacity 23 written per frame."""
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(3)
    return run.path


@pytest.fixture
def show(open_panel: OpenPanel) -> Show:
    return lambda path: open_panel(TensorsPanel, path, 400)


def cells(panel: TensorsPanel, row: int) -> dict[str, str]:
    return {
        title: str(panel.model.index(row, number).data() or "") for title, number in COLUMN.items()
    }


def names(panel: TensorsPanel) -> list[str]:
    return [row.name for row in panel.model.rows]


def type_filter(panel: TensorsPanel, text: str) -> None:
    panel.filter.setText(text)
    panel.filter.settle()


def move(panel: TensorsPanel, frame: int | None = None, cache: int | None = None) -> None:
    panel.workspace.move(frame=frame, cache=cache)
    panel.refresh_now()


def test_without_a_recording_or_a_frame_it_says_so(show: Show, tmp_path: Path) -> None:
    panel = show(None)
    assert panel.stage.sentence.startswith("No recording is open.")
    assert not panel.filter.isEnabled()
    type_filter(panel, "x")
    assert panel.stage.sentence.startswith("No recording is open.")
    run = FakeRun(tmp_path / "run.kvrec")
    panel.workspace.open(run.path)
    panel.refresh_now()
    assert panel.stage.sentence == "The run has no frame yet. Step once to record the first."
    run.writer.finish("stopped")


def test_every_tensor_has_a_row(show: Show, whole: Path) -> None:
    panel = show(whole)
    assert panel.model.rowCount() == 4
    assert cells(panel, 0) == {
        "": "●", "name": "transformer.layers.0.self_attn.cache", "model": "flow_lm",
        "shape": "[2, 1, 23, 2, 8]", "dtype": "float32", "device": "cpu", "offset": "14",
        "capacity": "23", "NaN": "9 slots", "value": "", "storage": "0",
    }  # fmt: skip
    offset = cells(panel, 1)
    assert (offset["value"], offset["offset"], offset["NaN"]) == ("14", "", "0")
    assert panel.count.text() == "4 tensors, 4 changed"


def test_agreement_is_said_on_top(show: Show, whole: Path) -> None:
    assert show(whole).summary.text() == "✓ All 4 tensors agree with their layers' weights"


def test_a_single_tensor_is_not_called_all(show: Show, whole: Path) -> None:
    tamper(whole, "DELETE FROM tensor WHERE id > 0")
    assert show(whole).summary.text() == "✓ The one tensor agrees with its layer's weights"


def test_a_mismatch_is_marked_where_it_is_and_said_on_top(show: Show, whole: Path) -> None:
    tamper(whole, "UPDATE tensor_state SET dtype = 'float16' WHERE tensor = 2")
    panel = show(whole)
    words = "transformer.layers.1.self_attn.cache is float16, but its layer computes in float32"
    assert panel.summary.text() == f"⚠ 1 mismatch: {words}"
    assert cells(panel, 2)["dtype"] == "⚠ float16"
    assert cells(panel, 2)[""] == "⚠●"
    assert panel.model.index(2, COLUMN["dtype"]).data(Qt.ItemDataRole.ToolTipRole) == words
    assert panel.model.index(2, COLUMN["dtype"]).data(Qt.ItemDataRole.ForegroundRole) is not None
    assert panel.model.index(1, COLUMN["dtype"]).data(Qt.ItemDataRole.ForegroundRole) is None
    assert words in str(panel.model.index(2, MARK).data(Qt.ItemDataRole.ToolTipRole))


def test_several_mismatches_are_counted(show: Show, whole: Path) -> None:
    tamper(
        whole,
        "UPDATE tensor_state SET dtype = 'float16' WHERE tensor = 2",
        "UPDATE tensor_state SET device = 'cuda:0' WHERE tensor = 1",
    )
    panel = show(whole)
    assert panel.summary.text().startswith("⚠ 2 mismatches: transformer.layers.0")
    assert panel.summary.text().endswith("(and 1 more)")
    type_filter(panel, "mismatch")
    assert panel.model.rowCount() == 2


def test_what_the_frame_left_alone_is_not_marked(show: Show, whole: Path) -> None:
    tamper(whole, "DELETE FROM tensor_state WHERE tensor = 3 AND frame > 2")
    panel = show(whole)
    assert cells(panel, 3)[""] == ""
    bold = panel.model.index(3, NAME).data(Qt.ItemDataRole.FontRole)
    assert bold is None
    assert panel.model.index(2, NAME).data(Qt.ItemDataRole.FontRole).bold()
    assert panel.count.text() == "4 tensors, 3 changed"
    move(panel, frame=2)
    assert cells(panel, 3)[""] == "●"


@pytest.mark.parametrize(
    ("statement", "row", "words", "odd"),
    [
        ("UPDATE cache_state SET offset = offset", 0, "9 slots", False),
        ("UPDATE cache_state SET offset = 15 WHERE frame = 4", 0, "9 slots", True),
        ("UPDATE cache_state SET offset = NULL", 0, "9 slots", False),
        ("UPDATE tensor_state SET nan_count = 3 WHERE tensor = 1", 1, "3 elements", True),
        ("UPDATE tensor_state SET nan_count = 0 WHERE tensor = 1", 1, "0", False),
    ],
    ids=["unwritten", "written", "no offset", "elements", "none"],
)
def test_nan_stands_out_where_something_was_written(
    show: Show, whole: Path, statement: str, row: int, words: str, odd: bool
) -> None:
    tamper(whole, statement)
    panel = show(whole)
    index = panel.model.index(row, COLUMN["NaN"])
    assert index.data() == words
    assert (index.data(Qt.ItemDataRole.FontRole) is not None) == odd
    assert str(index.data(Qt.ItemDataRole.ToolTipRole)).startswith(words)


def test_the_filter_looks_at_every_cell(show: Show, whole: Path, qtbot: QtBot) -> None:
    panel = show(whole)
    QTest.keyClicks(panel.filter, "int64 -layers.0")
    qtbot.waitUntil(lambda: panel.model.rowCount() == 1, timeout=5000)
    assert names(panel) == ["transformer.layers.1.self_attn.offset"]
    assert panel.count.text() == "1 of 4 tensors, 1 changed"
    type_filter(panel, "zzz")
    assert panel.stage.sentence == "No tensor matches “zzz”."
    type_filter(panel, "")
    assert panel.model.rowCount() == 4


def test_a_click_on_a_heading_sorts(show: Show, whole: Path) -> None:
    panel = show(whole)
    in_order = names(panel)
    panel.table.sortByColumn(COLUMN["dtype"], Qt.SortOrder.DescendingOrder)
    assert [row.tensor.dtype for row in panel.model.rows] == ["int64", "int64"] + ["float32"] * 2
    panel.table.sortByColumn(COLUMN["capacity"], Qt.SortOrder.AscendingOrder)
    assert [row.cache for row in panel.model.rows] == [None, None, 0, 1]
    move(panel, frame=3)
    assert [row.cache for row in panel.model.rows] == [None, None, 0, 1]
    panel.table.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
    assert names(panel) == in_order


def test_a_double_click_on_a_cache_goes_to_its_layer(show: Show, whole: Path) -> None:
    panel = show(whole)
    for row, cache in ((2, 1), (1, 1), (0, 0)):
        place = panel.table.visualRect(panel.model.index(row, NAME)).center()
        QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        QTest.mouseDClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert panel.workspace.cursor.cache == cache


def test_the_cache_under_the_cursor_is_selected(show: Show, whole: Path) -> None:
    panel = show(whole)
    assert panel.table.selected_rows() == [range(0, 1)]
    move(panel, cache=1)
    assert panel.table.selected_rows() == [range(2, 3)]


def test_what_is_selected_stays_in_sight_until_it_is_scrolled_away(show: Show, whole: Path) -> None:
    panel = show(whole)
    panel.resize(900, 130)
    move(panel, cache=1)
    assert panel.table.rowAt(1) > 0
    panel.resize(900, 400)
    assert panel.table.rowAt(1) == 0
    panel.resize(900, 130)
    bar = panel.table.verticalScrollBar()
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
    panel.resize(900, 125)
    assert panel.table.rowAt(1) == 0


def test_a_state_without_tensors(show: Show, whole: Path) -> None:
    tamper(whole, "DELETE FROM tensor")
    panel = show(whole)
    assert panel.stage.sentence.startswith("No tensor was recorded")
    assert panel.summary.isHidden()


def test_a_damaged_table_is_told_in_place_of_it(show: Show, whole: Path) -> None:
    tamper(whole, "UPDATE tensor_state SET storage = 'x'")
    panel = show(whole)
    assert panel.stage.sentence.startswith("The tensors cannot be read: is damaged")


def test_rows_are_copied_as_text(show: Show, whole: Path) -> None:
    panel = show(whole)
    panel.table.selectAll()
    QTest.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[1:3] == ["name", "shape"]
    assert len(lines) == 5
    assert panel.count.text() == "copied 4 rows"


def test_find_goes_to_the_filter_and_enter_to_the_table(
    show: Show, whole: Path, qtbot: QtBot
) -> None:
    panel = show(whole)
    panel.activateWindow()
    panel.table.setFocus()
    qtbot.waitUntil(panel.table.hasFocus, timeout=5000)
    QTest.keyClick(panel.table, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.filter.hasFocus()
    QTest.keyClick(panel.filter, Qt.Key.Key_Return)
    assert panel.table.hasFocus()


def test_other_colours_are_taken_on(show: Show, whole: Path, qapp: object) -> None:
    panel = show(whole)
    sheets = set()
    for mode in ("light", "dark"):
        apply_theme(qapp, mode)  # type: ignore[arg-type]
        panel.refresh_now()
        sheets.add(panel.summary.styleSheet())
    assert len(sheets) == 2
