"""The ops panel: what is listed, what the cursor does to it, what is said when there is nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from kvstudio.app import op_query
from kvstudio.app.op_words import COLUMN, OP_COLUMNS
from kvstudio.app.panels.ops import OpsPanel
from kvstudio.app.table import CELL_PADDING
from kvstudio.app.theme import apply_theme
from kvstudio.recording.rows import Op
from kvstudio.recording.spec import RunSpec
from tests.app.panels.conftest import OpenPanel
from tests.fakes import FILE, FakeRun
from tests.recording.reading import tamper

OPS_A_FRAME = 20
Show = Callable[[Path | None], OpsPanel]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Frame 0 has no ops, 1 (text) has one, 2 to 4 have twenty each; frame 4 has NaN."""
    run = FakeRun(tmp_path / "run.kvrec", ops_per_frame=OPS_A_FRAME)
    run.begin_chunk()
    run.prefill()
    run.decode()
    run.decode()
    run.decode(nan=True)
    run.writer.finish("finished")
    return run.path


@pytest.fixture
def show(open_panel: OpenPanel) -> Show:
    return lambda path: open_panel(OpsPanel, path)


def move(
    panel: OpsPanel,
    frame: int | None = None,
    op: int | None = None,
    cache: int | None = None,
    slot: int | None = None,
) -> None:
    panel.workspace.move(frame=frame, op=op, cache=cache, slot=slot)
    panel.refresh_now()


def chosen_op(panel: OpsPanel) -> int | None:
    return panel.workspace.cursor.op


def type_filter(panel: OpsPanel, text: str) -> None:
    panel.bar.filter.setText(text)
    panel.bar.filter.settle()


def listed(panel: OpsPanel, column: str = "#") -> list[str]:
    return [panel.model.row(row).cells[COLUMN[column]] for row in range(panel.model.rowCount())]


def test_without_a_recording_it_says_so(show: Show) -> None:
    panel = show(None)
    assert panel.stage.sentence.startswith("No recording is open.")
    assert not panel.bar.isEnabled()
    panel.bar.choose("all")  # by code: the user cannot
    assert panel.model.rowCount() == 0


def test_a_frame_shows_its_ops_in_order_and_all_about_them(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, frame=3)
    assert listed(panel) == [str(n) for n in range(21, 41)]
    assert panel.bar.count.text() == "20 ops"
    cells = dict(zip((c.title for c in OP_COLUMNS), panel.model.row(1).cells, strict=True))
    assert cells == {
        "#": "22", "frame": "3", "part": "flow_lm", "op": "aten.matmul.default", "NaN": "",
        "role": "",
        "slots": "reads V 0-12 of L1", "arguments": "f32[1,13,2,8], f32[1,1,2,8]",
        "result": "f32[1,13,2,8]", "module": "flow_lm.transformer.layers.1.self_attn",
        "source": "modules/attention.py:11", "µs": "0.5", "thread": "Thread-1",
    }  # fmt: skip
    assert panel.table.isColumnHidden(COLUMN["frame"])


def test_another_frame_shows_other_ops(show: Show, whole: Path) -> None:
    panel = show(whole)
    assert listed(panel)[0] == "41"
    move(panel, frame=1)
    assert listed(panel) == ["0"]


def test_nan_is_told_in_words_and_in_bold(show: Show, whole: Path) -> None:
    panel = show(whole)
    assert set(listed(panel, "NaN")) == {"NaN→NaN"}
    index = panel.model.index(0, COLUMN["NaN"])
    font = index.data(Qt.ItemDataRole.FontRole)
    assert font.bold()
    needed = QFontMetrics(font).horizontalAdvance("NaN→NaN") + 2 * CELL_PADDING
    assert panel.table.columnWidth(COLUMN["NaN"]) >= needed
    move(panel, frame=3)
    assert index.data(Qt.ItemDataRole.FontRole) is None


def test_all_frames_and_back(show: Show, whole: Path, qtbot: QtBot) -> None:
    panel = show(whole)
    QTest.mouseClick(panel.bar.buttons["all"], Qt.MouseButton.LeftButton)
    assert panel.model.rowCount() == 61
    assert not panel.table.isColumnHidden(COLUMN["frame"])
    QTest.mouseClick(panel.bar.buttons["frame"], Qt.MouseButton.LeftButton)
    assert panel.model.rowCount() == OPS_A_FRAME


def test_in_all_frames_the_list_scrolls_to_the_frame(show: Show, whole: Path) -> None:
    panel = show(whole)
    panel.resize(900, 300)
    panel.bar.choose("all")
    move(panel, frame=3)
    assert panel.table.rowAt(2) == 21
    assert panel.model.rowCount() == 61


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("copy_", "10 of 20 ops"),
        ("-copy_", "10 of 20 ops"),
        ("layers.1 copy_", "3 of 20 ops"),
        ("attention.py:13", "1 of 20 ops"),
        ("nan", "20 of 20 ops"),
        ("zzz", "0 of 20 ops"),
    ],
)
def test_the_filter(show: Show, whole: Path, text: str, count: str) -> None:
    panel = show(whole)
    type_filter(panel, text)
    assert panel.bar.count.text() == count
    type_filter(panel, "")
    assert panel.bar.count.text() == "20 ops"


def test_typing_filters_after_a_pause(show: Show, whole: Path, qtbot: QtBot) -> None:
    panel = show(whole)
    QTest.keyClicks(panel.bar.filter, "matmul")
    assert panel.model.rowCount() == OPS_A_FRAME
    qtbot.waitUntil(lambda: panel.model.rowCount() == OPS_A_FRAME // 2, timeout=5000)


def test_a_filter_that_finds_nothing_is_quoted(show: Show, whole: Path) -> None:
    panel = show(whole)
    type_filter(panel, "zzz")
    assert panel.stage.sentence == "No op of this frame matches “zzz”."
    panel.bar.choose("all")
    assert panel.stage.sentence == "No op matches “zzz”."


@pytest.mark.parametrize("scope", ["all", "frame"])
def test_a_filter_takes_ops_in_piece_by_piece(
    show: Show, whole: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    monkeypatch.setattr(op_query, "OPS_AT_ONCE", 7)
    panel = show(whole)
    panel.bar.buttons[scope].setChecked(True)  # type: ignore[index]  # one of the three
    type_filter(panel, "matmul")
    expected = {"all": "30 of 61 ops", "frame": "10 of 20 ops"}[scope]
    if scope == "frame":
        assert panel.stage.sentence == "Reading ops: 7 of 61 …"
    qtbot.waitUntil(lambda: panel.bar.count.text() == expected, timeout=5000)
    assert set(listed(panel, "op")) == {"aten.matmul.default"}
    assert panel.stage.sentence == ""


def test_choosing_an_op_moves_the_cursor_and_shows_its_source(
    show: Show, whole: Path, qtbot: QtBot
) -> None:
    panel = show(whole)
    move(panel, frame=3)
    place = panel.table.visualRect(panel.model.index(2, COLUMN["op"])).center()
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    panel.refresh_now()
    assert (panel.workspace.cursor.frame, panel.workspace.cursor.op) == (3, 23)
    assert panel.details.source.path.text() == f"{FILE}:12  in complete_kv"
    assert panel.details.source.text.marked_text == "line 12 of attention.py"
    words = panel.details.words.toPlainText()
    for part in ("aten.copy_.default", "decode step 1", "writes K+V", "none taken, none given"):
        assert part in words


def test_choosing_an_op_of_another_frame_moves_the_frame(show: Show, whole: Path) -> None:
    panel = show(whole)
    panel.bar.choose("all")
    panel.table.setCurrentIndex(panel.model.index(3, 0))
    panel.refresh_now()
    assert (panel.workspace.cursor.frame, panel.workspace.cursor.op) == (2, 3)
    assert panel.table.currentIndex().row() == 3


def test_an_op_chosen_elsewhere_is_selected_and_in_sight(show: Show, whole: Path) -> None:
    panel = show(whole)
    panel.resize(900, 300)
    move(panel, frame=3, op=39)
    assert panel.table.selected_rows() == [range(18, 19)]
    row = panel.table.visualRect(panel.model.index(18, 0))
    assert panel.table.viewport().rect().contains(row.center())


def test_an_op_that_the_filter_hides_is_still_described(show: Show, whole: Path) -> None:
    panel = show(whole)
    type_filter(panel, "matmul")
    move(panel, frame=3, op=23)
    assert panel.table.selected_rows() == []
    assert "number 23" in panel.details.words.toPlainText()


def test_leaving_the_frame_deselects(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, frame=3, op=23)
    move(panel, frame=2)
    assert panel.table.selected_rows() == []
    assert panel.details.source.isHidden()


def test_while_no_op_is_selected_the_frame_is_summed_up(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, frame=3)
    words = panel.details.words.toPlainText().split("\n")
    assert "3, decode step 1: 20 ops in 0.01 ms" in words
    assert "0.01 ms aten.matmul.default, 10 ×" in words  # noqa: RUF001
    assert "Select an op to see its source line and what it touched." in words
    panel.bar.choose("all")
    assert panel.details.words.isHidden()
    assert panel.details.source.text.placeholderText().startswith("Select an op")
    panel.bar.choose("frame")
    assert not panel.details.words.isHidden()


def test_the_history_of_a_slot(show: Show, whole: Path, qtbot: QtBot) -> None:
    panel = show(whole)
    assert not panel.bar.buttons["slot"].isEnabled()
    move(panel, frame=3, cache=1, slot=12)
    button = panel.bar.buttons["slot"]
    assert button.text() == "Slot 12 of L1"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert {words.split(" of ")[1] for words in listed(panel, "slots")} == {"L1"}
    assert listed(panel, "frame")[0] == "3"
    assert "4" in listed(panel, "frame")
    move(panel, slot=300)
    assert panel.stage.sentence == "No recorded op touches slot 300 of L1."
    move(panel, slot=12)
    assert panel.stage.sentence == ""


def test_what_touches_a_slot_later_is_muted(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, frame=3, cache=1, slot=12)
    panel.bar.choose("slot")
    last = panel.model.index(panel.model.rowCount() - 1, COLUMN["op"])
    assert last.data(Qt.ItemDataRole.ForegroundRole) is not None
    move(panel, frame=4)
    assert last.data(Qt.ItemDataRole.ForegroundRole) is None


def test_a_slot_list_without_a_slot_says_what_to_do(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, cache=1, slot=12)
    panel.bar.choose("slot")
    move(panel, cache=0)
    assert panel.stage.sentence == "Select a slot in the cache map."


def test_find_goes_to_the_filter_and_enter_to_the_list(
    show: Show, whole: Path, qtbot: QtBot
) -> None:
    panel = show(whole)
    panel.activateWindow()
    panel.table.setFocus()
    qtbot.waitUntil(panel.table.hasFocus, timeout=5000)
    assert chosen_op(panel) is None  # going there chooses nothing
    QTest.keyClick(panel.table, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.bar.filter.hasFocus()
    QTest.keyClicks(panel.bar.filter, "matmul")
    QTest.keyClick(panel.bar.filter, Qt.Key.Key_Return)
    assert panel.table.hasFocus()
    assert chosen_op(panel) == 42
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    assert chosen_op(panel) == 44
    QTest.keyClick(panel.bar.filter, Qt.Key.Key_Escape)
    assert panel.bar.count.text() == "20 ops"


def test_rows_are_copied_as_text(show: Show, whole: Path, qtbot: QtBot) -> None:
    panel = show(whole)
    move(panel, frame=3, op=22)
    QTest.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert copied.split("\t")[:2] == ["22", "aten.matmul.default"]
    panel.table.selectAll()
    panel.table.copy_rows()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 1 + OPS_A_FRAME
    assert lines[0].startswith("#\top\tNaN\trole\tslots\t")


def test_copying_too_many_rows_says_so(
    show: Show, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kvstudio.app.table.MOST_COPIED", 8)
    panel = show(whole)
    panel.table.selectAll()
    panel.table.copy_rows()
    assert panel.bar.count.text() == "copied the first 8 of 20 rows"


def test_widths_of_columns_are_remembered(show: Show, whole: Path, qtbot: QtBot) -> None:
    first = show(whole)
    header = first.table.horizontalHeader()
    header.resizeSection(COLUMN["slots"], 99)  # by code: no wish of the user's
    assert show(whole).table.columnWidth(COLUMN["slots"]) != 99
    before = first.table.columnWidth(COLUMN["op"])
    edge = QPoint(header.sectionViewportPosition(COLUMN["op"]) + before - 1, header.height() // 2)
    QTest.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(header.viewport(), edge + QPoint(40, 0))
    QTest.mouseRelease(header.viewport(), Qt.MouseButton.LeftButton, pos=edge + QPoint(40, 0))
    assert first.table.columnWidth(COLUMN["op"]) == before + 40
    assert show(whole).table.columnWidth(COLUMN["op"]) == before + 40


def test_a_run_that_goes_on_is_followed(show: Show, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec", ops_per_frame=OPS_A_FRAME)
    panel = show(run.path)
    assert panel.stage.sentence == "The run has no frame yet. Step once to record the first."
    run.begin_chunk()
    run.prefill()
    for number in range(2):
        run.decode()
        panel.workspace.refresh()
        panel.refresh_now()
        assert listed(panel)[0] == str(1 + number * OPS_A_FRAME)
    panel.bar.choose("all")
    type_filter(panel, "copy_")
    assert panel.bar.count.text() == "21 of 41 ops"
    run.decode()
    panel.workspace.refresh()
    panel.refresh_now()
    assert panel.bar.count.text() == "31 of 61 ops"
    run.writer.finish("stopped")


def test_a_slot_list_is_followed_too(show: Show, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec", ops_per_frame=OPS_A_FRAME)
    run.begin_chunk()
    run.prefill()
    run.decode()
    panel = show(run.path)
    move(panel, cache=0, slot=11)
    panel.bar.choose("slot")
    before = panel.model.rowCount()
    run.decode()
    panel.workspace.refresh()
    panel.refresh_now()
    assert panel.model.rowCount() > before
    run.writer.finish("stopped")


@pytest.mark.parametrize("trace", ["cache", "off"])
def test_a_run_without_ops_says_why(show: Show, tmp_path: Path, trace: str) -> None:
    spec = RunSpec(trace=trace)  # type: ignore[arg-type]  # two of the three levels
    run = FakeRun(tmp_path / "run.kvrec", ops_per_frame=0, spec=spec)
    run.begin_chunk()
    run.writer.finish("stopped")
    panel = show(run.path)
    sentence = f"This frame was recorded with trace {trace}: no ops."
    assert panel.stage.sentence == sentence
    assert panel.details.isHidden()
    panel.bar.choose("all")
    assert panel.stage.sentence == sentence.replace("frame", "run")


def test_a_frame_without_ops_at_full_trace(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, frame=0)
    assert panel.stage.sentence == "No op was recorded in this frame."


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE op SET took_ns = 'x' WHERE id = 45", "cannot be read: "),
        ("UPDATE op SET call = 99 WHERE id = 45", "cannot be read: "),
    ],
)
def test_a_damaged_op_is_a_row_that_says_so(
    show: Show, whole: Path, statement: str, words: str
) -> None:
    tamper(whole, statement)
    panel = show(whole)
    assert listed(panel, "op")[4].startswith(words)
    move(panel, op=45)
    assert words in panel.details.words.toPlainText()
    panel.table.setCurrentIndex(panel.model.index(5, 0))
    panel.table.setCurrentIndex(panel.model.index(4, 0))
    assert panel.workspace.cursor.op == 46  # nobody knows the frame of 45


def test_a_damaged_table_is_told_in_place_of_it(show: Show, whole: Path) -> None:
    tamper(whole, "DELETE FROM op WHERE id = 3")
    panel = show(whole)
    type_filter(panel, "copy_")
    assert panel.stage.sentence.startswith("The ops cannot be read: is damaged")
    type_filter(panel, "")
    assert panel.model.rowCount() == OPS_A_FRAME


def test_a_frame_that_cannot_be_summed_up_says_so(show: Show, whole: Path) -> None:
    tamper(whole, "UPDATE op SET part = 'x'")
    panel = show(whole)
    assert "cannot be read" in panel.details.words.toPlainText()


def test_a_source_that_was_not_kept(show: Show, whole: Path) -> None:
    tamper(whole, "DELETE FROM source")
    panel = show(whole)
    move(panel, frame=3, op=23)
    assert panel.details.source.text.toPlainText() == ""
    assert "does not hold the text" in panel.details.source.text.placeholderText()


def test_closing_the_recording_empties_the_panel(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, frame=3, op=23)
    panel.workspace.close()
    panel.refresh_now()
    assert panel.model.rowCount() == 0
    assert panel.details.isHidden()
    assert panel.stage.sentence.startswith("No recording is open.")


def test_the_layout_follows_the_width(show: Show, whole: Path) -> None:
    panel = show(whole)
    assert panel.details.orientation() == Qt.Orientation.Horizontal
    panel.resize(420, 600)
    assert panel.details.orientation() == Qt.Orientation.Vertical


def test_other_colours_are_taken_on(show: Show, whole: Path, qapp: object) -> None:
    panel = show(whole)
    move(panel, op=45)
    index = panel.model.index(0, COLUMN["NaN"])
    colors = set()
    for mode in ("light", "dark"):
        apply_theme(qapp, mode)  # type: ignore[arg-type]
        panel.refresh_now()
        colors.add(index.data(Qt.ItemDataRole.ForegroundRole).name())
    assert len(colors) == 2
    assert "number 45" in panel.details.words.toPlainText()
    move(panel, frame=3)
    apply_theme(qapp, "light")  # type: ignore[arg-type]
    panel.refresh_now()
    assert "decode step 1" in panel.details.words.toPlainText()


def test_rows_are_read_only_where_they_are_seen(
    show: Show, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = show(whole)
    panel.resize(900, 300)
    recording = panel.workspace.recording
    assert recording is not None
    read: list[int] = []
    get = recording.ops.get

    def counted(op: int) -> Op:
        read.append(op)
        return get(op)

    monkeypatch.setattr(recording.ops, "get", counted)
    panel.bar.choose("all")
    panel.table.scrollToBottom()
    panel.grab()
    assert 0 < len(read) < 40


def test_in_a_narrow_panel_the_choices_are_short(show: Show, whole: Path, qtbot: QtBot) -> None:
    panel = show(whole)
    move(panel, frame=3, cache=0, slot=12)
    words = [button.text() for button in panel.bar.buttons.values()]
    assert words == ["This frame", "All frames", "Slot 12 of L0"]
    panel.resize(390, 200)
    words = [button.text() for button in panel.bar.buttons.values()]
    assert words == ["Frame", "All", "Slot 12"]
    assert "slot 12 of L0" in panel.bar.buttons["slot"].toolTip()
    qtbot.waitUntil(lambda: panel.bar.filter.width() > 100)
    assert panel.bar.filter.geometry().right() < panel.bar.count.x()
