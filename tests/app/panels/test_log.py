"""Log: the engine's lines as they come, the recording's as they were kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvstudio.app.panels.log import LogPanel
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p
from kvstudio.recording.rows import LogLine
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def workspace(qtbot: QtBot) -> Iterator[Workspace]:
    made = Workspace()
    yield made
    made.close()


@pytest.fixture
def log(workspace: Workspace, qtbot: QtBot) -> LogPanel:
    panel = LogPanel(workspace)
    qtbot.addWidget(panel)
    panel.show()
    return panel


def shown(log: LogPanel) -> list[str]:
    """The lines without their times."""
    lines = log.text.toPlainText().splitlines()
    return [line.split(" ", 1)[1] for line in lines]


def test_the_engines_lines_appear_as_they_come(log: LogPanel) -> None:
    log.take_event(p.Log("stderr", "loading weights"))
    log.take_event(p.Log("stdout", "hello"))
    assert shown(log) == ["loading weights", "hello"]
    assert log.counts.text() == "2"


def test_lines_that_came_while_it_was_hidden_are_there(log: LogPanel) -> None:
    log.hide()
    log.take_event(p.Log("stderr", "unseen"))
    log.show()
    assert shown(log) == ["unseen"]


def test_failures_are_kept_with_their_details(log: LogPanel) -> None:
    log.take_event(p.Failed("load", "no such file", "Traceback\n  line 7"))
    assert shown(log) == ["no such file", "Traceback", "  line 7"]


def test_the_filter_works_while_typing(log: LogPanel) -> None:
    for text in ("Loading weights", "a frame", "weights loaded"):
        log.add("stderr", text)
    log.filter.setText("weights")
    assert shown(log) == ["Loading weights", "weights loaded"]
    assert log.counts.text() == "2 of 3"
    log.add("stderr", "another frame")
    assert shown(log) == ["Loading weights", "weights loaded"]
    log.filter.clear()
    assert len(shown(log)) == 4


def test_clear_forgets_the_engines_lines(log: LogPanel) -> None:
    log.add("stderr", "old")
    log.clear.click()
    assert shown(log) == []
    assert not log.clear.isEnabled()


def test_the_recordings_lines_grow_with_it(
    log: LogPanel, workspace: Workspace, tmp_path: Path
) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    run.writer.add_log([LogLine(1000.0, "stderr", "first")])
    workspace.open(run.path)
    log.source.setCurrentIndex(1)
    log.refresh_now()
    assert shown(log) == ["first"]
    run.writer.add_log([LogLine(1001.0, "stdout", "second")])
    run.prefill()
    workspace.refresh()
    log.refresh_now()
    assert shown(log) == ["first", "second"]
    assert log.source.currentText() == "recording (2)"
    run.writer.finish("stopped")


def test_another_recording_has_another_log(
    log: LogPanel, workspace: Workspace, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        run = FakeRun(tmp_path / f"{name}.kvrec")
        run.writer.add_log([LogLine(1000.0, "stderr", name)])
        run.run(2)
        workspace.open(run.path)
        log.source.setCurrentIndex(1)
        log.refresh_now()
        assert shown(log) == [name]
