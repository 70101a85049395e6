"""A file that is no whole recording of this version is refused in words that say which."""

import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kvstudio.recording import schema
from kvstudio.recording.errors import (
    DamagedRecording,
    NewerRecording,
    NotARecording,
    OlderRecording,
    TruncatedRecording,
)
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun
from tests.recording.reading import error_of, read_everything, tamper

FRAMES = 6
CUTS = 60
ROOT = Path(__file__).parents[2]
CUT_SHORT = """
import os, pathlib, sys
from tests.fakes import FakeRun
run = FakeRun(pathlib.Path(sys.argv[1]))
run.begin_chunk(), run.prefill(), run.decode()
os._exit(0)
"""
FLIPS = 300


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A closed recording of `FRAMES` frames."""
    path = tmp_path_factory.mktemp("whole") / "run.kvrec"
    run = FakeRun(path, ops_per_frame=8)
    run.writer.add_log([])
    run.run(FRAMES - 2)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    path = tmp_path / "run.kvrec"
    path.write_bytes(whole)
    return path


def test_a_whole_recording_is_read_and_left_alone(path: Path, whole: bytes) -> None:
    assert read_everything(path) == FRAMES
    assert path.read_bytes() == whole
    assert [file.name for file in path.parent.iterdir()] == ["run.kvrec"]


def _other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE meta (key, value)")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(lambda path: None, "there is no such file", id="missing"),
        pytest.param(lambda path: path.write_bytes(b""), "is empty", id="empty"),
        pytest.param(
            lambda path: path.write_text("hello\n" * 99),
            "is not a KVStudio recording; recordings end in .kvrec",
            id="text",
        ),
        pytest.param(lambda path: path.mkdir(), "is a folder", id="folder"),
        pytest.param(_other_database, "SQLite file, but not a KVStudio recording", id="database"),
    ],
)
def test_what_is_no_recording(make: Callable[[Path], object], says: str, tmp_path: Path) -> None:
    path = tmp_path / "run.kvrec"
    make(path)
    error = error_of(path)
    assert isinstance(error, NotARecording)
    assert says in str(error)


@pytest.mark.parametrize("name", ["x" * 300, "nul\0byte", "run.kvrec/inside"])
def test_an_impossible_name_is_no_recording(path: Path, name: str) -> None:
    assert isinstance(error_of(path.parent / name), NotARecording)


def test_a_name_of_any_bytes_is_opened(path: Path) -> None:
    odd = path.with_name("caf\udce9 100% ?mode=rw #1.kvrec")
    path.rename(odd)
    assert read_everything(odd) == FRAMES


def test_a_newer_recording_says_so(path: Path) -> None:
    tamper(path, f"PRAGMA user_version = {schema.VERSION + 1}")
    error = error_of(path)
    assert isinstance(error, NewerRecording)
    assert f"format {schema.VERSION + 1}, this one reads {schema.VERSION}); update" in str(error)


def test_an_older_recording_says_so(path: Path) -> None:
    tamper(path, "PRAGMA user_version = 1")
    error = error_of(path)
    assert isinstance(error, OlderRecording)
    assert "made by an older KVStudio (format 1" in str(error)


def test_cut_off_anywhere_is_said_or_leaves_whole_frames(path: Path, whole: bytes) -> None:
    random.seed(4)
    places = [1, 15, 16, 17, 99, 100, 101, 4095, 4096, len(whole) - 4096, len(whole) - 1]
    for place in [*places, *(random.randrange(len(whole)) for _ in range(CUTS))]:
        path.write_bytes(whole[:place])
        error = error_of(path)
        cut = isinstance(error, TruncatedRecording) and "cut off" in str(error)
        assert cut or (place < 16 and isinstance(error, NotARecording)), (place, error)


def test_cut_off_in_its_log_leaves_whole_frames(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "grown.kvrec", ops_per_frame=4)
    run.begin_chunk()
    run.prefill()
    for _ in range(4):
        run.decode()
    path = tmp_path / "copy.kvrec"
    log = Path(f"{run.path}-wal").read_bytes()
    counts = []
    for place in range(0, len(log) + 1, len(log) // 40):
        shutil.copyfile(run.path, path)
        Path(f"{path}-wal").write_bytes(log[:place])
        Path(f"{path}-shm").unlink(missing_ok=True)
        error = error_of(path)
        if error is None:
            counts.append(read_everything(path))
        else:  # before the first commit there is nothing to read
            assert isinstance(error, DamagedRecording), (place, error)
            assert not counts
    assert counts == sorted(counts)
    assert counts[-1] >= 5
    run.writer.finish("stopped")


def test_flipped_bytes_are_said_or_read(path: Path, whole: bytes) -> None:
    random.seed(11)
    refused = 0
    for _ in range(FLIPS):
        damaged = bytearray(whole)
        for _ in range(random.choice([1, 1, 3, 20])):
            damaged[random.randrange(len(whole))] ^= 1 << random.randrange(8)
        path.write_bytes(damaged)
        refused += error_of(path) is not None
    assert 0 < refused < FLIPS


@pytest.mark.parametrize("page", range(1, 12))
def test_a_page_of_zeros_is_said_or_read(path: Path, whole: bytes, page: int) -> None:
    (size,) = struct.unpack(">H", whole[16:18])
    path.write_bytes(whole[: page * size] + bytes(size) + whole[(page + 1) * size :])
    error_of(path)


def test_locked_by_another_program_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0.01}))
    with closing(connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        error = error_of(path)
    assert error is not None
    assert "locked by another program; try again" in str(error)
    assert not isinstance(error, DamagedRecording)


@pytest.fixture
def readonly(tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """Makes a folder one that nobody can write to, the administrator neither."""
    mounted = []

    def make(folder: Path) -> None:
        if os.geteuid() != 0:
            folder.chmod(0o555)
            return
        _mount("--bind", folder, folder)
        mounted.append(folder)
        _mount("-o", "remount,ro,bind", folder)

    yield make
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)
    for folder in tmp_path.iterdir():
        folder.chmod(0o755)


def _mount(*arguments: str | Path) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"needs a read-only folder, but cannot mount: {done.stderr.decode()}")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    return folder


def test_a_read_only_recording_in_a_read_only_folder_is_read(
    shelf: Path, whole: bytes, readonly: Callable[[Path], None]
) -> None:
    path = shelf / "run.kvrec"
    path.write_bytes(whole)
    path.chmod(0o444)
    readonly(shelf)
    assert read_everything(path) == FRAMES
    with Recording.open(path) as recording:
        recording.settle()
        assert len(recording.frames) == FRAMES


@pytest.mark.parametrize("keep_index", [True, False], ids=["with-index", "copied"])
def test_a_run_cut_short_in_a_read_only_folder_is_read_or_says_what_to_do(
    shelf: Path, readonly: Callable[[Path], None], keep_index: bool
) -> None:
    path = shelf / "run.kvrec"
    subprocess.run([sys.executable, "-c", CUT_SHORT, path], check=True, cwd=ROOT)
    if not keep_index:
        Path(f"{path}-shm").unlink()
    readonly(shelf)
    if keep_index:
        assert read_everything(path) == 3
        return
    error = error_of(path)
    assert "cut short, in a folder that cannot be written" in str(error)
    assert "copy it together with run.kvrec-wal to another folder" in str(error)


def test_a_recording_without_its_log_in_a_read_only_folder_is_read(
    shelf: Path, whole: bytes, readonly: Callable[[Path], None]
) -> None:
    path = shelf / "run.kvrec"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert [file.name for file in shelf.iterdir()] == [path.name]
    readonly(shelf)
    assert read_everything(path) == FRAMES


def test_a_recording_that_may_not_be_read_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    error = error_of(path)
    assert isinstance(error, NotARecording)
    assert "cannot be read: Permission denied" in str(error)
