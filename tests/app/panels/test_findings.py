"""The Findings panel: the verdict, the list, the chain, and where they lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest

from kvstudio.app.panels.findings import FindingsPanel
from kvstudio.app.theme import apply_theme
from kvstudio.app.workspace import Workspace
from tests.app.findings.made import NO_EOS, READ_OP, UNWRITTEN, faulty
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot


@pytest.fixture
def panel(qapp: QApplication, qtbot: QtBot) -> Iterator[FindingsPanel]:
    apply_theme(qapp, "light")
    workspace = Workspace()
    panel = FindingsPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(400, 420)
    panel.show()
    yield panel
    workspace.findings.close()
    workspace.close()


def opened(panel: FindingsPanel, path: Path) -> FindingsPanel:
    assert panel.workspace.open(path)
    panel.refresh_now()
    return panel


def rows(panel: FindingsPanel) -> list[list[str]]:
    columns = range(panel.model.columnCount())
    return [
        [str(panel.model.index(row, column).data()) for column in columns]
        for row in range(panel.model.rowCount())
    ]


def test_without_a_recording_it_says_what_will_be_here_and_offers_cases(
    panel: FindingsPanel, qtbot: QtBot
) -> None:
    assert "No recording is open" in panel.empty.words.text()
    assert not panel.verdict.isVisible()
    with qtbot.waitSignal(panel.cases_requested):
        panel.empty.cases.click()


def test_every_finding_is_a_row(panel: FindingsPanel, tmp_path: Path) -> None:
    opened(panel, faulty(tmp_path / "a.kvrec").path)
    assert rows(panel) == [
        ["▲ error", "unwritten-read", "3", "L1 +1", "K 13", "42 ×"],  # noqa: RUF001
        ["△ warning", "no-eos", "5", "", "", ""],
    ]
    assert panel.verdict.title.text() == "2 findings"
    assert not panel.empty.isVisible()


def test_the_chain_is_told_in_words_with_what_each_link_leads_to(
    panel: FindingsPanel, tmp_path: Path
) -> None:
    text = opened(panel, faulty(tmp_path / "a.kvrec").path).chain.toPlainText()
    assert text.startswith(UNWRITTEN.message)
    for words in (
        "slot 13 was never written",
        "frame 1 · L1 slot 13 →",
        f"frame 3 · op {READ_OP} →",
        "frame 3 · 0.10 s →",
        "look at the source",
    ):
        assert words in text


def test_a_click_on_a_link_moves_the_cursor_and_marks_the_link(
    panel: FindingsPanel, tmp_path: Path
) -> None:
    opened(panel, faulty(tmp_path / "a.kvrec").path)
    panel.chain.anchorClicked.emit(QUrl("link:1"))
    cursor = panel.workspace.cursor
    assert (cursor.frame, cursor.op) == (3, READ_OP)
    assert "bgcolor" in panel.chain.toHtml()
    panel.chain.anchorClicked.emit(QUrl("link:99"))
    panel.chain.anchorClicked.emit(QUrl("https://example.org"))
    assert panel.workspace.cursor == cursor


def test_what_a_file_says_is_never_markup(panel: FindingsPanel, tmp_path: Path) -> None:
    evil = UNWRITTEN.__class__(
        kind="x", severity="error", message="<b>bold</b><img src='http://example.org/x'>"
    )
    opened(panel, faulty(tmp_path / "a.kvrec", (evil,)).path)
    assert "<b>bold</b>" in panel.chain.toPlainText()


def test_keys_choose_and_jump(panel: FindingsPanel, tmp_path: Path) -> None:
    opened(panel, faulty(tmp_path / "a.kvrec").path)
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    assert panel.workspace.cursor.frame == 3
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    panel.refresh_now()
    assert panel.workspace.findings.chosen == NO_EOS
    assert panel.workspace.cursor.frame == 3  # choosing alone does not jump
    assert panel.chain.toPlainText().startswith("It did not end.")
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    assert panel.workspace.cursor.frame == 5


def test_a_click_on_a_row_goes_there(panel: FindingsPanel, tmp_path: Path) -> None:
    opened(panel, faulty(tmp_path / "a.kvrec").path)
    place = panel.table.visualRect(panel.model.index(1, 1)).center()
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.workspace.cursor.frame == 5


def test_next_and_previous_go_from_origin_to_origin(panel: FindingsPanel, tmp_path: Path) -> None:
    opened(panel, faulty(tmp_path / "a.kvrec").path)
    panel.go_to(1)
    assert panel.workspace.cursor.frame == 5
    panel.go_to(1)
    assert (panel.workspace.cursor.frame, panel.workspace.cursor.slot) == (3, 13)


def test_a_growing_run_without_findings_is_calm(panel: FindingsPanel, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "a.kvrec")
    run.begin_chunk()
    opened(panel, run.path)
    assert panel.verdict.title.text() == "Nothing found so far"
    assert "Normal, and never a finding" in panel.empty.normal.text()
    run.writer.finish("stopped")


def test_a_healthy_run_is_clean_and_a_stopped_one_is_not_verified(
    panel: FindingsPanel, tmp_path: Path, qtbot: QtBot
) -> None:
    FakeRun(tmp_path / "a.kvrec").run(3)
    opened(panel, tmp_path / "a.kvrec")
    qtbot.waitUntil(lambda: panel.verdict.title.text() == "Clean")
    faulty(tmp_path / "b.kvrec", (), finish=False).writer.finish("stopped")
    opened(panel, tmp_path / "b.kvrec")
    qtbot.waitUntil(lambda: panel.verdict.title.text() == "Not verified")
    assert "stopped before its end" in panel.verdict.more.text()


def test_the_list_gets_the_height_the_user_gave_it(
    panel: FindingsPanel, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(panel, faulty(tmp_path / "a.kvrec").path)
    panel.splitter.setSizes([200, 100])
    panel.splitter.splitterMoved.emit(200, 1)
    kept = panel.splitter.sizes()[0]
    other = FindingsPanel(panel.workspace)
    qtbot.addWidget(other)
    other.resize(400, 420)
    other.show()
    other.refresh_now()
    assert abs(other.splitter.sizes()[0] - kept) <= 2


def test_how_often_it_was_seen_is_said_in_words(panel: FindingsPanel, tmp_path: Path) -> None:
    opened(panel, faulty(tmp_path / "a.kvrec").path)
    often = "Seen 42 times over all frames, layers and slots."
    assert often in panel.chain.toPlainText()
    tip = panel.model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == f"{UNWRITTEN.message}\n{often}"
    panel.workspace.findings.choose(NO_EOS)
    panel.refresh_now()
    assert "times" not in panel.chain.toPlainText()
