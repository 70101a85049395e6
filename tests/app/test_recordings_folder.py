"""Names of new recordings, and which old ones are cleared away."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from kvstudio.app.recordings_folder import RecordingsFolder, default_folder, voice_title
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 12, 2, 10, 15, 30)


def test_recordings_of_a_user_lie_in_the_users_data_folder(home: Path) -> None:
    assert default_folder().is_relative_to(home)


def test_a_name_says_when_what_and_who(tmp_path: Path) -> None:
    folder = RecordingsFolder(tmp_path / "new")
    path = folder.new_path(RunSpec(), NOON)
    assert path.name == "2026-12-02_10-15-30_demo_low.kvrec"
    path.touch()
    assert folder.new_path(RunSpec(), NOON).name == "2026-12-02_10-15-30_demo_low-2.kvrec"


def test_a_name_holds_nothing_that_a_file_system_minds(tmp_path: Path) -> None:
    spec = RunSpec(
        model=ModelSource("config", "hf://me/mein modell/x:y*.yaml", quantize=True),
        voice="/tmp/meine stimme?.wav",
    )
    name = RecordingsFolder(tmp_path).new_path(spec, NOON).name
    assert name == "2026-12-02_10-15-30_x-y-.yaml-int8_meine-stimme.kvrec"


@pytest.mark.parametrize(
    ("voice", "title"),
    [
        ("low", "low"),
        ("/a/b/anna.wav", "anna"),
        ("C:\\voices\\anna.v2.flac", "anna.v2"),
        ("hf://kyutai/voices/alba.safetensors", "alba"),
    ],
)
def test_voices_have_short_names(voice: str, title: str) -> None:
    assert voice_title(voice) == title


def made(folder: Path, name: str, frames: int) -> Path:
    """A finished recording; no frames: only the voice prefill."""
    folder.mkdir(exist_ok=True)
    run = FakeRun(folder / name)
    if frames:
        run.run(frames)
    else:
        run.begin_chunk()
        run.writer.finish("stopped")
    return run.path


def test_old_and_empty_recordings_are_cleared_away(tmp_path: Path) -> None:
    paths = [made(tmp_path, f"2026-12-0{day}.kvrec", 2) for day in range(1, 6)]
    empty = made(tmp_path, "2026-12-09.kvrec", 0)
    other = tmp_path / "notes.txt"
    other.touch()
    removed = RecordingsFolder(tmp_path).clean(kept=3)
    assert set(removed) == {empty, *paths[:2]}
    assert set(tmp_path.iterdir()) == {other, *paths[2:]}


def test_what_is_open_is_spared(tmp_path: Path) -> None:
    old, empty = made(tmp_path, "2026-12-01.kvrec", 2), made(tmp_path, "2026-12-02.kvrec", 0)
    assert RecordingsFolder(tmp_path).clean(kept=0, spared={old, empty}) == []


def test_what_is_being_written_is_spared(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "2026-12-01.kvrec")
    run.begin_chunk()
    assert RecordingsFolder(tmp_path).clean(kept=0) == []
    run.writer.finish("stopped")
    assert RecordingsFolder(tmp_path).clean(kept=0) == [run.path]


def test_a_file_that_is_no_recording_counts_as_an_old_one(tmp_path: Path) -> None:
    (tmp_path / "2026-12-01.kvrec").write_text("hello", encoding="utf-8")
    folder = RecordingsFolder(tmp_path)
    assert folder.clean(kept=1) == []
    assert len(folder.clean(kept=0)) == 1


def test_a_folder_that_does_not_exist_needs_no_cleaning(tmp_path: Path) -> None:
    assert RecordingsFolder(tmp_path / "nowhere").clean() == []
