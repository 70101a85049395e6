"""Runs that cannot begin, or cannot go on, end in words; the engine runs the next one."""

import ctypes
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kvstudio.engine.session import Outcome, Session
from kvstudio.recording.errors import SpecError, UnwritableRecording
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import Edit, ModelSource, RunSpec
from tests.engine.running import observed, session_with

SHORT = RunSpec(text="a", eos_threshold=-1000.0)
# In long sentences: pocket-tts takes seconds to find the ends of a thousand short ones.
TEN_THOUSAND_WORDS = ("the cat sat on the mat and looked " * 6 + "at me. ") * 200


@pytest.fixture(scope="module")
def session() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(autouse=True)
def usable_afterwards(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    yield
    path = tmp_path_factory.mktemp("afterwards") / "run.kvrec"
    assert observed(session, SHORT, path)[0].status == "finished"
    with Recording.open(path) as recording:
        assert len(recording.frames) > 6


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_no_text(text: str) -> None:
    with pytest.raises(SpecError, match="there is no text to speak"):
        RunSpec(text=text).require_runnable()


def test_budget_of_no_text(session: Session) -> None:
    assert session.budget(" ", None) == []


def test_text_of_ten_thousand_words(session: Session, tmp_path: Path) -> None:
    chunks = session.budget(TEN_THOUSAND_WORDS, None)
    assert len(TEN_THOUSAND_WORDS.split()) == 10_000
    assert len(chunks) == 200
    assert session.voice is not None
    for chunk in chunks:
        assert chunk["current_end"] == session.voice.card["slots"]
        assert chunk["token_count"] > 200
        total = chunk["current_end"] + chunk["token_count"] + chunk["max_gen_len"]
        assert chunk["required_len"] == total
        assert chunk["bytes"] > 0
    spec = RunSpec(text=TEN_THOUSAND_WORDS, eos_threshold=-1000.0, frames_after_eos=0, trace="off")
    path = tmp_path / "run.kvrec"
    outcome = run_some_frames(session, spec, path, frames=25)
    assert outcome.status == "stopped"
    with Recording.open(path) as recording:
        assert len(recording.chunks) > 1
        for spoken, chunk in zip(recording.chunks, chunks, strict=False):
            assert spoken.text == chunk["text"]
            assert spoken.required_len == chunk["required_len"]


def test_one_word_without_end(session: Session) -> None:
    """Nothing to split at: whatever pocket-tts makes of it, the budget tells it."""
    chunks = session.budget("ha" * 2000, None)
    assert sum(chunk["token_count"] for chunk in chunks) >= 4000


def test_unknown_recipe(session: Session, tmp_path: Path) -> None:
    spec = RunSpec(edits=(Edit("melt", 3),))
    with pytest.raises(SpecError, match="unknown recipe 'melt'"):
        session.open_recording(spec, tmp_path / "run.kvrec")


def test_path_that_exists(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "diary.kvrec"
    path.write_text("Dear diary", encoding="utf-8")
    with pytest.raises(UnwritableRecording, match="a file of this name exists"):
        session.open_recording(SHORT, path)
    assert path.read_text(encoding="utf-8") == "Dear diary"


def test_path_in_no_folder(session: Session, tmp_path: Path) -> None:
    with pytest.raises(UnwritableRecording, match=r"the folder .*lost does not exist"):
        session.open_recording(SHORT, tmp_path / "lost" / "run.kvrec")


def test_path_that_is_a_folder(session: Session, tmp_path: Path) -> None:
    with pytest.raises(UnwritableRecording, match="a folder of this name exists"):
        session.open_recording(SHORT, tmp_path)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system nobody writes to")
def test_path_that_cannot_be_written(session: Session) -> None:
    with pytest.raises(UnwritableRecording, match="no permission to write in /proc/self"):
        session.open_recording(SHORT, Path("/proc/self/run.kvrec"))


@pytest.mark.parametrize("room", [100, 400, 1500], ids=lambda room: f"{room} KiB")
def test_full_disk(session: Session, tmp_path: Path, room: int) -> None:
    """Frames recorded before are there; the message says what to do."""
    spec = RunSpec(text="Hello world.")
    reported: list[int] = []
    with small_disk(tmp_path / "disk", room) as disk:
        path = disk / "run.kvrec"
        try:
            outcome, _ = observed(session, spec, path, on_frame=reported.append)
            message = outcome.reason
            assert outcome.status == "failed"
        except UnwritableRecording as error:  # not even the tables found room
            message = str(error)
            assert not path.exists()
        assert "the disk is full" in message
        assert "Free some space" in message
        if reported:
            with Recording.open(path) as recording:
                assert len(recording.frames) == len(reported)
                assert recording.frames[-1].id == reported[-1]
    assert room < 1000 or len(reported) > 3


def test_file_that_may_not_grow(session: Session, tmp_path: Path) -> None:
    """A quota, as the system tells of it: an error of writing instead of a full disk."""
    path = tmp_path / "run.kvrec"
    reported: list[int] = []
    with limited_files(1200 * 1024):
        outcome, _ = observed(session, RunSpec(text="Hello world."), path, on_frame=reported.append)
    assert outcome.status == "failed"
    assert "run.kvrec: " in outcome.reason
    with Recording.open(path) as recording:
        assert len(recording.frames) == len(reported) > 1


def run_some_frames(session: Session, spec: RunSpec, path: Path, frames: int) -> Outcome:
    from kvstudio.engine.gate import Gate

    gate = Gate()
    gate.run()

    def on_frame(frame: int) -> None:
        if frame == frames:
            gate.stop()

    return observed(session, spec, path, gate, on_frame=on_frame)[0]


@contextmanager
def small_disk(folder: Path, kibibytes: int) -> Iterator[Path]:
    """A file system of its own for `folder`; skips the test where that is not allowed."""
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    target = str(folder).encode()
    if libc.mount(b"tmpfs", target, b"tmpfs", 0, f"size={kibibytes}k".encode()):
        pytest.skip(f"cannot mount a small disk: {os.strerror(ctypes.get_errno())}")
    try:
        yield folder
    finally:
        assert libc.umount2(target, 2) == 0


@contextmanager
def limited_files(size: int) -> Iterator[None]:
    """While entered, no file of this process can grow beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignoring = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignoring)
