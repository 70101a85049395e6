"""Copies of recordings, finished and growing, and what cannot be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvstudio.app.saving import RecordingSaver
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def source(tmp_path: Path) -> Path:
    run = FakeRun(tmp_path / "source.kvrec")
    run.run(6)
    return run.path


def save(qtbot: QtBot, source: Path, target: Path) -> str:
    """Empty if it was saved, else why not."""
    saver = RecordingSaver(source, target)
    said: list[str] = []
    saver.failed.connect(said.append)
    with qtbot.waitSignal(saver.finished):
        saver.start()
    qtbot.waitUntil(saver.isFinished)
    return said[0] if said else ""


def test_the_copy_is_a_whole_recording_in_one_file(
    qtbot: QtBot, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "copies" / "kept.kvrec"
    target.parent.mkdir()
    assert save(qtbot, source, target) == ""
    assert list(target.parent.iterdir()) == [target]
    with Recording.open(source) as one, Recording.open(target) as other:
        assert one.frames == other.frames
        assert one.facts == other.facts


def test_a_growing_recording_can_be_copied(qtbot: QtBot, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "live.kvrec")
    run.begin_chunk()
    run.prefill()
    assert save(qtbot, run.path, tmp_path / "kept.kvrec") == ""
    run.decode()
    run.writer.finish("stopped")
    with Recording.open(tmp_path / "kept.kvrec") as copy:
        assert len(copy.frames) == 2


def test_an_existing_file_is_replaced(qtbot: QtBot, source: Path, tmp_path: Path) -> None:
    target = tmp_path / "kept.kvrec"
    target.write_text("old", encoding="utf-8")
    assert save(qtbot, source, target) == ""
    with Recording.open(target) as copy:
        assert len(copy.frames) == 8


def test_the_open_file_itself_is_refused(qtbot: QtBot, source: Path) -> None:
    before = source.read_bytes()
    assert "choose another name" in save(qtbot, source, source)
    assert source.read_bytes() == before


@pytest.mark.parametrize("place", ["missing", "a file"])
def test_a_place_that_cannot_be_written(
    qtbot: QtBot, source: Path, tmp_path: Path, place: str
) -> None:
    if place == "a file":
        (tmp_path / place).touch()
    target = tmp_path / place / "kept.kvrec"
    said = save(qtbot, source, target)
    assert said.startswith(f"The recording could not be saved to {target}: ")


def test_a_source_that_is_gone(qtbot: QtBot, tmp_path: Path) -> None:
    said = save(qtbot, tmp_path / "gone.kvrec", tmp_path / "kept.kvrec")
    assert "there is no such file" in said
    assert list(tmp_path.iterdir()) == []
