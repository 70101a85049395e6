"""What is known of a recording's findings: while it grows, when it is over, without its writer."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvstudio.app.workspace import Workspace
from tests.app.findings.made import FOUND, NO_EOS, UNWRITTEN, faulty
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    workspace = Workspace()
    yield workspace
    workspace.findings.close()
    workspace.close()


def test_nothing_is_known_of_no_recording(workspace: Workspace) -> None:
    assert workspace.findings.standing == "none"
    assert workspace.findings.beside(1) is None


def test_what_the_engine_found_is_there_at_once(workspace: Workspace, tmp_path: Path) -> None:
    workspace.open(faulty(tmp_path / "a.kvrec").path)
    watch = workspace.findings
    assert (watch.standing, watch.findings, watch.chosen) == ("findings", FOUND, UNWRITTEN)


def test_findings_come_while_the_run_goes_on(
    workspace: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    run = faulty(tmp_path / "a.kvrec", (), finish=False)
    workspace.open(run.path)
    watch = workspace.findings
    assert (watch.standing, watch.findings) == ("so far", ())
    run.writer.set_findings([UNWRITTEN.to_row()])
    with qtbot.waitSignal(watch.changed):
        workspace.refresh()
    assert watch.findings == (UNWRITTEN,)
    grown = replace(UNWRITTEN, count=43, chain=UNWRITTEN.chain[:2])
    run.writer.set_findings([grown.to_row(), NO_EOS.to_row()])
    workspace.refresh()
    assert watch.chosen == grown  # it stays chosen while it grows
    run.writer.finish("finished")
    workspace.refresh()
    assert watch.standing == "findings"


def test_a_run_without_findings_is_checked_once_it_is_over(
    workspace: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    FakeRun(tmp_path / "a.kvrec").run(4)
    workspace.open(tmp_path / "a.kvrec")
    watch = workspace.findings
    assert watch.standing == "checking"
    qtbot.waitUntil(lambda: watch.standing == "clean")
    assert "no findings" in watch.reason


def test_a_stopped_run_is_not_called_clean(
    workspace: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    run = faulty(tmp_path / "a.kvrec", (), finish=False)
    run.writer.finish("stopped", "stopped before frame 6")
    workspace.open(run.path)
    qtbot.waitUntil(lambda: workspace.findings.standing == "not verified")
    assert "stopped" in workspace.findings.reason


def test_another_recording_takes_the_place_of_one_that_is_being_checked(
    workspace: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    FakeRun(tmp_path / "a.kvrec").run(4)
    workspace.open(tmp_path / "a.kvrec")
    workspace.open(faulty(tmp_path / "b.kvrec").path)
    qtbot.wait(150)
    assert workspace.findings.findings == FOUND


def test_findings_that_are_none_are_told(workspace: Workspace, tmp_path: Path) -> None:
    path = faulty(tmp_path / "a.kvrec").path
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE finding SET links = 'no JSON'")
    workspace.open(path)
    assert workspace.findings.standing == "unreadable"
    assert "damaged" in workspace.findings.reason


def test_next_and_previous_go_round(workspace: Workspace, tmp_path: Path) -> None:
    workspace.open(faulty(tmp_path / "a.kvrec").path)
    watch = workspace.findings
    assert (watch.beside(1), watch.beside(-1)) == (NO_EOS, NO_EOS)
    watch.choose(NO_EOS)
    assert watch.beside(1) == UNWRITTEN
    watch.choose(None)
    assert (watch.beside(1), watch.beside(-1)) == (UNWRITTEN, NO_EOS)
