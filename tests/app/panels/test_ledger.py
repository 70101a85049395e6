"""The ledger panel: the sum of each chunk, and the three checks of each expansion."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from kvstudio.app.ledger_words import FIRST_CHECK, INTEGRITY_COLUMNS, LEDGER_COLUMNS
from kvstudio.app.panels.ledger import LedgerPanel
from kvstudio.app.table import Table
from kvstudio.app.theme import apply_theme
from tests.app.panels.conftest import OpenPanel
from tests.fakes import FakeRun
from tests.recording.reading import tamper

Show = Callable[[Path | None], LedgerPanel]
SHAPE, NAN, KEPT = range(FIRST_CHECK, FIRST_CHECK + 3)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Five voice slots, six of text, eight of at most twelve frames; frame 0 is the voice."""
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(8)
    return run.path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Chunk 0 in frames 0 to 2, chunk 1 in frames 3 and 4."""
    run = FakeRun(tmp_path / "two.kvrec")
    for _ in range(2):
        run.begin_chunk()
        run.prefill()
        run.decode()
    run.writer.finish("finished")
    return run.path


@pytest.fixture
def show(qtbot: QtBot, open_panel: OpenPanel) -> Show:
    def shown(path: Path | None) -> LedgerPanel:
        panel = open_panel(LedgerPanel, path)
        recording, due = panel.workspace.recording, 0
        if recording is not None:
            begun = {each.chunk for each in recording.frames if each.phase == "text"}
            due = sum(each.chunk in begun for each in recording.expansions())
        qtbot.waitUntil(lambda: panel.checks.rowCount() == due, timeout=5000)
        return panel

    return shown


def move(panel: LedgerPanel, frame: int) -> None:
    panel.workspace.move(frame=frame)
    panel.refresh_now()


def cells(table: Table, row: int) -> dict[str, str]:
    columns = LEDGER_COLUMNS if table.model().columnCount() == len(LEDGER_COLUMNS) else ()
    titles = [each.title for each in columns or INTEGRITY_COLUMNS]
    model = table.model()
    return {title: str(model.index(row, n).data()) for n, title in enumerate(titles)}


def click(table: Table, index: QModelIndex) -> None:
    place = table.visualRect(index).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_without_a_recording_or_a_chunk_it_says_so(show: Show, tmp_path: Path) -> None:
    panel = show(None)
    assert panel.stage.sentence.startswith("No recording is open.")
    run = FakeRun(tmp_path / "run.kvrec")
    panel.workspace.open(run.path)
    panel.refresh_now()
    assert panel.stage.sentence == "The run has no chunk yet."
    run.writer.finish("stopped")


def test_the_sum_of_a_chunk(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, 4)
    numbers = {name: label.text() for name, label in panel.card.numbers.items()}
    assert numbers == {
        "current_end": "5", "token_count": "+ 6", "max_gen_len": "+ 12", "required_len": "= 23",
        "capacity": "5 → 23",
    }  # fmt: skip
    assert {label.text() for label in panel.card.verdicts.values()} == {"✓"}
    assert panel.card.use.text() == (
        "14 of 23 slots used, 9 left; 3 of at most 12 frames generated"
    )
    assert panel.card.bar.toolTip() == "voice 5, text 6, generated 3, left 9"
    assert panel.card.text.text() == "“Hello world.”"
    assert panel.card.tokens.text() == "H · e · l · l · o ·  "
    assert panel.card.tokens.toolTip().startswith("0  H\n1  e\n")
    assert panel.summary.text() == "✓ 1 chunk adds up, 6 checks passed"
    assert cells(panel.chunk_table, 0) == {
        "chunk": "0", "sum": "5 + 6 + 12 = 23", "capacity": "5 → 23", "verdict": "✓ adds up",
        "used": "14", "left": "9", "use": "████░░ 61%", "frames": "3 / 12", "tokens": "6",
        "text": "Hello world.",
    }  # fmt: skip


def test_the_voice_frame_stands_before_the_expansion(show: Show, whole: Path) -> None:
    panel = show(whole)
    move(panel, 0)
    assert panel.card.use.text() == "5 slots used, to be expanded to 23"
    assert panel.card.bar.toolTip() == "voice 5, to come 18"
    panel.grab()


def test_a_chunk_that_is_not_expanded_yet_is_not_judged(show: Show, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    tamper(run.path, "DELETE FROM expansion", "UPDATE chunk SET capacity_after = 5")
    panel = show(run.path)
    assert panel.card.numbers["capacity"].text() == "5 so far"
    assert panel.card.verdicts["capacity"].text() == ""
    assert panel.card.use.text() == "5 slots used, to be expanded to 23"
    assert cells(panel.chunk_table, 0)["verdict"] == "not expanded yet"
    assert panel.summary.text() == "✓ 1 chunk adds up"
    run.writer.finish("stopped")


@pytest.mark.parametrize(
    ("statement", "problem", "verdicts", "bar"),
    [
        ("UPDATE chunk SET required_len = 21", "the sum is 23, but required_len is 21", "✗✓", ""),
        (
            "UPDATE chunk SET capacity_after = 20",
            "capacity is 20 after the expansion, 3 short of the 23 the chunk may need",
            "✓✗",
            "",
        ),
        (
            "UPDATE cache_state SET capacity = 20",
            "",
            "✓✓",
            "voice 5, text 6, generated 3, left 6, missing 3",
        ),
        (
            "UPDATE cache_state SET offset = 25 WHERE cache = 1",
            "the offset 25 of layer 1 is past the capacity 23",
            "✓✓",
            "voice 5, text 6, generated 14",
        ),
    ],
    ids=["sum", "capacity", "short cache", "offset"],
)
def test_what_does_not_add_up_is_said_and_marked(
    show: Show, whole: Path, statement: str, problem: str, verdicts: str, bar: str
) -> None:
    tamper(whole, statement)
    panel = show(whole)
    move(panel, 4)
    assert "".join(label.text() for label in panel.card.verdicts.values()) == verdicts
    if problem:
        assert panel.card.problems.text() == f"✗ {problem}"
        assert panel.summary.text().startswith("✗ the chunk does not add up")
        verdict = panel.chunks.index(0, 3)
        assert verdict.data() == f"✗ {problem}"
        assert verdict.data(Qt.ItemDataRole.ToolTipRole) == problem
    if bar:
        assert panel.card.bar.toolTip() == bar
    panel.grab()  # every kind of segment can be painted


def test_past_the_end_is_said(show: Show, whole: Path) -> None:
    tamper(whole, "UPDATE cache_state SET offset = 25")
    panel = show(whole)
    move(panel, 4)
    assert panel.card.use.text().startswith("25 of 23 slots used, 2 past the end;")
    assert cells(panel.chunk_table, 0)["left"] == "-2"


def test_no_growth_needed(show: Show, whole: Path) -> None:
    tamper(
        whole,
        "UPDATE chunk SET capacity_before = 40, capacity_after = 40",
        "UPDATE expansion SET capacity_before = 40, capacity_after = 40, fill = 'none'",
    )
    panel = show(whole)
    assert panel.card.numbers["capacity"].text() == "40"
    assert panel.card.use.text().endswith(", no growth needed")
    assert cells(panel.check_table, 0)["shape grew"] == "✓ no growth needed, 40 are enough"


def test_every_layer_has_its_checks(show: Show, whole: Path) -> None:
    panel = show(whole)
    assert cells(panel.check_table, 1) == {
        "chunk": "0", "layer": "L1", "shape grew": "✓ 5 to 23",
        "new slots NaN": "✓ 18 new, all NaN", "old values kept": "✓ 5 bit for bit",
    }  # fmt: skip
    assert panel.check_table.isColumnHidden(0)  # there is but one chunk


@pytest.mark.parametrize(
    ("statement", "column", "words", "slot"),
    [
        ("capacity_after = 20", SHAPE, "✗ 5 to 20, but 23 were required", 20),
        ("not_nan_slot = 7, fill = 'zero'", NAN,
         "✗ slot 7 is not NaN: new slots are filled with zeros", 7),
        ("changed_slot = 2", KEPT, "✗ slot 2 changed", 2),
        ("changed_slot = 99", KEPT, "✗ slot 99 changed", 22),
    ],
)  # fmt: skip
def test_a_failed_check_leads_to_its_slot(
    show: Show, whole: Path, statement: str, column: int, words: str, slot: int
) -> None:
    tamper(whole, f"UPDATE expansion SET {statement} WHERE cache = 1")
    panel = show(whole)
    move(panel, 0)
    assert panel.summary.text() == "✗ 1 of 6 checks failed"
    failed = panel.checks.index(0, column)  # failures come first
    assert failed.data() == words
    assert failed.data(Qt.ItemDataRole.FontRole).bold()
    click(panel.check_table, failed)
    cursor = panel.workspace.cursor
    assert (cursor.cache, cursor.slot) == (1, slot)
    assert cursor.frame == 1  # where the expansion has happened


def test_an_old_slot_that_holds_nan_is_named(show: Show, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.base[1][0, 0, 3] = float("nan")
    run.run(2)
    panel = show(run.path)
    assert cells(panel.check_table, 0)["new slots NaN"] == "✗ slot 3: old slot holds NaN, one of 1"


def test_a_check_that_passed_leads_to_its_layer(show: Show, whole: Path) -> None:
    panel = show(whole)
    panel.workspace.move(cache=0, slot=4)
    click(panel.check_table, panel.checks.index(1, 1))
    cursor = panel.workspace.cursor
    assert (cursor.frame, cursor.cache, cursor.slot) == (9, 1, None)


def test_chunks_follow_the_cursor_and_lead_it(show: Show, two: Path) -> None:
    panel = show(two)
    assert panel.summary.text() == "✓ 2 chunks add up, 12 checks passed"
    assert panel.chunk_table.selected_rows() == [range(1, 2)]
    assert not panel.check_table.isColumnHidden(0)
    click(panel.chunk_table, panel.chunks.index(0, 1))
    panel.refresh_now()
    assert panel.workspace.cursor.frame == 0
    assert panel.chunk_table.selected_rows() == [range(0, 1)]
    later = cells(panel.chunk_table, 1)
    assert (later["used"], later["frames"], later["use"]) == ("", "0 / 12", "")
    move(panel, 4)
    assert cells(panel.chunk_table, 0)["used"] == "12"
    assert cells(panel.chunk_table, 1)["used"] == "12"


def test_several_chunks_of_which_some_do_not_add_up(show: Show, two: Path) -> None:
    tamper(two, "UPDATE chunk SET capacity_after = 22 WHERE id = 1")
    panel = show(two)
    assert panel.summary.text() == "✗ 1 of 2 chunks does not add up"
    tamper(two, "UPDATE chunk SET capacity_after = 22")
    panel.workspace.refresh()
    panel.mark(panel._changed.FRAMES)
    panel.refresh_now()
    assert panel.summary.text() == "✗ 2 of 2 chunks do not add up"


def test_choosing_the_chunk_one_stands_in_does_not_move(show: Show, two: Path) -> None:
    panel = show(two)
    panel.chunk_table.select(0)
    click(panel.chunk_table, panel.chunks.index(1, 1))
    assert panel.workspace.cursor.frame == 4


def test_a_continued_chunk_begins_with_what_was_before(show: Show, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    run.prefill()
    run.begin_chunk(continues=0)
    run.prefill()
    run.writer.finish("finished")
    assert show(run.path).card.bar.toolTip().startswith("before 11, text 6")


def test_a_run_that_goes_on_is_followed(show: Show, tmp_path: Path, qtbot: QtBot) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    panel = show(None)
    panel.workspace.open(run.path)
    panel.refresh_now()
    assert panel.checks.rowCount() == 0
    run.prefill()
    panel.workspace.refresh()
    panel.refresh_now()
    qtbot.waitUntil(lambda: panel.checks.rowCount() == 2, timeout=5000)
    for frames in range(1, 3):
        run.decode()
        panel.workspace.refresh()
        panel.refresh_now()
        assert cells(panel.chunk_table, 0)["frames"] == f"{frames} / 12"
    run.begin_chunk()
    run.prefill()
    panel.workspace.refresh()
    panel.refresh_now()
    qtbot.waitUntil(lambda: panel.checks.rowCount() == 4, timeout=5000)
    run.writer.finish("stopped")


def test_both_tables_are_copied_as_text(show: Show, two: Path) -> None:
    panel = show(two)
    for table, line in ((panel.chunk_table, "0\t5 + 6 + 12 = 23\t5 → 23"),
                        (panel.check_table, "0\tL0\t✓ 5 to 23\t✓ 18 new, all NaN")):  # fmt: skip
        table.setFocus()
        table.selectAll()
        QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().text().splitlines()[1].startswith(line)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE cache_state SET offset = 'x'", "UPDATE expansion SET changed_slot = 'x'"],
    ids=["ledger", "checks"],
)
def test_a_damaged_table_is_told(show: Show, whole: Path, qtbot: QtBot, statement: str) -> None:
    tamper(whole, statement)
    panel = show(None)
    panel.workspace.open(whole)
    panel.refresh_now()
    says = "The ledger cannot be read: is damaged"
    qtbot.waitUntil(lambda: panel.stage.sentence.startswith(says), timeout=5000)


def test_closing_the_recording_empties_the_panel(show: Show, two: Path) -> None:
    panel = show(two)
    panel.workspace.close()
    panel.refresh_now()
    assert panel.chunks.rowCount() == panel.checks.rowCount() == 0
    assert panel.stage.sentence.startswith("No recording is open.")


def test_long_texts_are_cut_where_it_is_narrow(show: Show, tmp_path: Path, qtbot: QtBot) -> None:
    run = FakeRun(tmp_path / "run.kvrec", text=100)
    run.begin_chunk("word " * 50)
    run.prefill()
    run.writer.finish("stopped")
    panel = show(run.path)
    assert panel.card.tokens.text().endswith("and 34 more")
    assert "…" not in panel.card.text.text()
    panel.resize(320, 600)
    qtbot.waitUntil(lambda: "and 77 more" in panel.card.tokens.text(), timeout=5000)
    assert panel.card.text.text().endswith("…”")
    assert panel.card.text.toolTip() == "word " * 50


def test_tokens_that_are_not_known_yet(show: Show, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk("")
    panel = show(run.path)
    assert panel.card.tokens.text() == "its tokens are not known yet"
    run.writer.finish("stopped")


def test_other_colours_are_taken_on(show: Show, whole: Path, qapp: object) -> None:
    panel = show(whole)
    sheets = set()
    for mode in ("light", "dark"):
        apply_theme(qapp, mode)  # type: ignore[arg-type]
        panel.refresh_now()
        sheets.add(panel.summary.styleSheet())
        panel.grab()
    assert len(sheets) == 2
