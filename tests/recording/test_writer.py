"""What the writer promises: one transaction a frame, words when the file cannot be written."""

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kvstudio.recording import schema
from kvstudio.recording.errors import UnwritableRecording
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import (
    Base,
    CacheState,
    Chunk,
    Expansion,
    Frame,
    FrameRecord,
    LogLine,
    TensorState,
)
from kvstudio.recording.spec import RunSpec
from kvstudio.recording.writer import RecordingWriter
from tests.fakes import VERSIONS, FakeRun
from tests.recording.reading import read_everything

ROOT = Path(__file__).parents[2]
MANY = 10_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.kvrec"


@pytest.fixture
def run(path: Path) -> FakeRun:
    run = FakeRun(path)
    run.begin_chunk()
    run.prefill()
    return run


def test_file_says_what_it_is(run: FakeRun, path: Path) -> None:
    run.writer.finish("finished", "EOS")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_finishing_twice_keeps_the_first_reason(run: FakeRun, path: Path) -> None:
    run.writer.finish("stopped", "by the user")
    run.writer.finish("failed", "later")
    with Recording.open(path) as recording:
        assert (recording.status, recording.facts.reason) == ("stopped", "by the user")


def test_a_closed_recording_takes_nothing_more(run: FakeRun) -> None:
    run.writer.finish("finished")
    with pytest.raises(UnwritableRecording, match="the recording is closed"):
        run.decode()


def test_a_cache_is_registered_once(run: FakeRun) -> None:
    described = {name: value for name, value in vars(run.flow[1]).items() if name != "id"}
    assert run.writer.add_cache(**described) == run.flow[1]
    run.writer.finish("finished")


def test_equal_bases_are_stored_once(run: FakeRun, path: Path) -> None:
    for chunk in (1, 2):
        bases = [Base(cache.id, 5, run.base[cache.id]) for cache in run.flow]
        run.writer.begin_chunk(_chunk(chunk), bases)
    run.writer.finish("finished")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM snapshot").fetchone() == (len(run.flow),)
        assert connection.execute("SELECT count(*) FROM chunk_base").fetchone() == (6,)


def test_a_base_of_a_lost_transaction_is_stored_again(run: FakeRun, path: Path) -> None:
    fresh = run.base[0] + 1
    bad = Expansion(1, 0, 1, 2, None, None, fill=None)  # type: ignore[arg-type]
    with pytest.raises(UnwritableRecording):
        run.writer.begin_chunk(_chunk(1), [Base(0, 5, fresh)], [bad])
    run.writer.begin_chunk(_chunk(1), [Base(0, 5, fresh)])
    run.writer.finish("finished")
    with Recording.open(path) as recording:
        found = recording.values_before_expansion(recording.caches[0], 1)
        assert found is not None
        np.testing.assert_array_equal(found, fresh)


def test_a_frame_that_fails_leaves_nothing_and_the_next_is_whole(run: FakeRun, path: Path) -> None:
    ops = run._ops(4, [run._delta(run.flow[0], 11, 1)])
    fresh = [op._replace(name=f"aten.new_{n}", module="m", thread="T2") for n, op in enumerate(ops)]
    fresh = [op._replace(arguments="new", site=("new.py", 1, "f")) for op in fresh]
    tensor = TensorState("mimi", "conv", "previous", "[1]", "float32", "cpu", 0, "0", 0)
    lost = FrameRecord(
        Frame(2, 0, "decode", 0, None, None, False, 4, 0, 0, 0),
        [CacheState(0, 12, 23, 11), CacheState(0, 12, 23, 11)],  # twice: SQLite refuses
        ops=fresh,
        tensors=[tensor],
    )
    with pytest.raises(UnwritableRecording, match="cannot be written: UNIQUE"):
        run.writer.add_frame(lost)
    run.writer.add_frame(replace(lost, cache_states=lost.cache_states[:1]))
    run.writer.finish("finished")
    assert read_everything(path) == 3
    with Recording.open(path) as recording:
        recording.ops.refresh()
        names = [recording.ops.get(op).name for op in recording.ops.of_frame(2)]
        assert names == [op.name for op in fresh]
        assert recording.ops.get(int(recording.ops.of_frame(2)[0])).thread == "T2"
        assert [each.key for each in recording.tensors(2)][-1] == "previous"


def test_texts_that_are_not_unicode_are_kept_readable(run: FakeRun, path: Path) -> None:
    odd = "caf\udce9"
    run.writer.set_facts(voice={"source": odd}, model={"name": "café"})
    run.writer.add_log([LogLine(1.0, "stderr", odd)])
    run.writer.add_source("odd.py", odd)
    run.writer.begin_chunk(replace(_chunk(1), text=odd, tokens=((1, odd),)), [])
    with pytest.raises(UnwritableRecording, match="surrogates not allowed"):
        run.writer.add_source(odd, "x")
    run.writer.finish("finished")
    with Recording.open(path) as recording:
        assert recording.facts.voice == {"source": odd}
        assert [line.text for line in recording.logs()] == ["caf?"]
        assert recording.chunks[1].text == "caf?"
        assert recording.source("odd.py") == "caf?"
    with closing(sqlite3.connect(path)) as connection:
        (model,) = connection.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()
    assert model == '{"name": "café"}'


@pytest.mark.parametrize("logit", [1.5, float("nan"), float("inf"), None])
def test_a_stop_logit_of_any_kind_comes_back(run: FakeRun, path: Path, logit: float | None) -> None:
    run.writer.add_frame(
        FrameRecord(Frame(2, 0, "decode", 0, logit, 0.0, False, 0, 0, 0, 0), rng=b"state")
    )
    run.writer.finish("finished")
    with Recording.open(path) as recording:
        np.testing.assert_equal(recording.frames[2].stop_logit, logit)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing/run.kvrec", "the folder .* does not exist"),
        ("taken.kvrec", "a file of this name exists; choose another name"),
        ("folder", "a folder of this name exists; choose another name"),
        ("link.kvrec", "a file of this name exists"),
        ("taken.kvrec/run.kvrec", "the folder .* does not exist"),
        ("x" * 300, "cannot be written"),
        ("nul\0byte.kvrec", "cannot be written"),
    ],
)
def test_a_path_that_cannot_be_written_is_said(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "taken.kvrec").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.kvrec").symlink_to("nowhere")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UnwritableRecording, match=says):
        RecordingWriter(tmp_path / name, RunSpec(), VERSIONS)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "taken.kvrec").read_text() == "mine"


def test_a_recording_that_cannot_begin_leaves_no_file(path: Path) -> None:
    """As on a disk that is full already."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "TABLES", "CREATE TABLE half (x); CREATE NONSENSE;")
        with pytest.raises(UnwritableRecording):
            RecordingWriter(path, RunSpec(), VERSIONS)
    assert not list(path.parent.iterdir())
    RecordingWriter(path, RunSpec(), VERSIONS).finish("finished")


# ---- a disk without space ----------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"needs a small disk, but cannot mount: {done.stderr.decode()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_said_and_the_frames_so_far_are_read(small_disk: Path) -> None:
    path = small_disk / "run.kvrec"
    run = FakeRun(path)
    run.begin_chunk()
    run.prefill()
    with pytest.raises(UnwritableRecording, match="disk is full; the frames recorded so far"):
        _decode(run, MANY)
    whole = run.frame
    run.writer.finish("failed", "the disk is full")
    assert read_everything(path) == whole
    assert whole > 5


FILL = """
import pathlib, resource, signal, sys
from kvstudio.recording.errors import UnwritableRecording
from tests.fakes import FakeRun
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
run = FakeRun(pathlib.Path(sys.argv[1]))
run.begin_chunk(), run.prefill()
resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000))
try:
    for _ in range(10_000):
        run.decode()
except UnwritableRecording as error:
    run.writer.finish("failed", str(error))
    print(run.frame, error)
"""


def test_a_file_that_may_not_grow_is_said_and_the_frames_so_far_are_read(path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    done = subprocess.run(
        [sys.executable, "-c", FILL, path], cwd=ROOT, capture_output=True, text=True, check=True
    )
    whole, _, words = done.stdout.partition(" ")
    assert "cannot be written" in words
    assert "disk" in words
    assert read_everything(path) == int(whole) > 5


def test_the_database_refusing_for_any_reason_is_said(run: FakeRun, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE log")
    with pytest.raises(UnwritableRecording, match="cannot be written: no such table: log"):
        run.writer.add_log([LogLine(0.0, "stderr", "x")])
    run.writer.finish("finished")


def test_an_error_of_the_caller_is_not_the_file_s(run: FakeRun) -> None:
    with pytest.raises(TypeError):
        run.writer.set_facts(model=object())
    frame = Frame(2, 0, "decode", 0, None, None, False, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="could not convert"):
        run.writer.add_frame(FrameRecord(frame, latent="x"))  # type: ignore[arg-type]
    run.decode()
    run.writer.finish("finished")


def _decode(run: FakeRun, frames: int) -> None:
    for _ in range(frames):
        run.decode()


def _chunk(number: int) -> Chunk:
    return Chunk(number, "Hi.", (), 5, 6, 12, 23, 5, 23, None, 4, 0.0)
