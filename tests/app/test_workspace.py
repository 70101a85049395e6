"""The workspace tells when a run grows, and once when it is over."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from kvstudio.app.workspace import Workspace
from tests.fakes import FakeRun


def test_the_end_of_a_run_is_told_once(tmp_path: Path, qtbot: QtBot) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    workspace, told = Workspace(), list[str]()
    workspace.frames_added.connect(lambda first, last: told.append(f"frames {first} to {last}"))
    workspace.run_ended.connect(lambda: told.append("end"))
    assert workspace.open(run.path)
    run.prefill()
    workspace.refresh()
    run.writer.finish("finished")
    qtbot.waitUntil(lambda: "end" in told)
    workspace.refresh()
    assert told == ["frames 1 to 2", "end"]
    workspace.close()


def test_a_recording_that_is_over_has_no_end_to_wait_for(tmp_path: Path, qtbot: QtBot) -> None:
    FakeRun(tmp_path / "run.kvrec").run(2)
    workspace, told = Workspace(), list[str]()
    workspace.run_ended.connect(lambda: told.append("end"))
    assert workspace.open(tmp_path / "run.kvrec")
    qtbot.wait(250)
    workspace.refresh()
    assert told == []
    workspace.close()
