"""However a recorded block ends, the recording says so and the script's error is the script's."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts import TTSModel

import kvstudio
from kvstudio.engine.state import ModelState
from kvstudio.recording.errors import UnwritableRecording
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import FrameRecord
from kvstudio.recording.writer import RecordingWriter
from tests.engine.scripts import demo_model, in_one_thread, say, untouched, voice
from tests.engine.test_leaving import Broken, failing

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tts() -> Any:  # noqa: ANN401
    return demo_model()


@pytest.fixture(scope="module")
def low(tts: TTSModel) -> ModelState:
    state: ModelState = voice(tts)
    return state


@pytest.fixture(autouse=True)
def nothing_left(tts: TTSModel) -> Iterator[None]:
    with untouched(tts):
        yield


def ended(path: Path) -> tuple[str, str, int]:
    with Recording.open(path) as recording:
        return recording.status, recording.facts.reason, len(recording.frames)


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (Broken("no more"), "failed", "The recorded script failed: Broken: no more"),
        (KeyboardInterrupt(), "stopped", "interrupted by the user"),
        (SystemExit(2), "stopped", "the script exited"),
    ],
    ids=["error", "Ctrl-C", "exit"],
)
def test_an_exception_of_the_script(
    tts: TTSModel, low: ModelState, tmp_path: Path, error: BaseException, status: str, reason: str
) -> None:
    path = tmp_path / "run.kvrec"
    with pytest.raises(type(error)) as raised, kvstudio.record(tts, path):  # noqa: PT012
        in_one_thread(tts, low, 2)
        raise error
    assert raised.value is error
    assert error.__context__ is None
    assert ended(path) == (status, reason, 4)
    with Recording.open(path) as recording:
        logged = [line.text for line in recording.logs()]
    assert ("Broken: no more" in "".join(logged)) == (status == "failed")


@pytest.mark.parametrize(
    ("owner", "name", "at", "frames"),
    [
        ("flow_lm.transformer.layers.3.self_attn", "forward", 3, 4),
        ("mimi.quantizer", "forward", 2, 4),
        ("", "_expand_kv_cache", 1, 2),
    ],
    ids=["step", "decode", "expansion"],
)
def test_an_exception_in_the_model(
    tts: TTSModel, low: ModelState, tmp_path: Path, owner: str, name: str, at: int, frames: int
) -> None:
    error, path = Broken("out of order"), tmp_path / "run.kvrec"
    with (
        failing(tts.get_submodule(owner), name, error, at),
        pytest.raises(Broken) as raised,
        kvstudio.record(tts, path),
    ):
        in_one_thread(tts, low, 5)
    assert raised.value is error
    status, reason, count = ended(path)
    assert (status, count) == ("failed", frames)
    assert "Broken: out of order" in reason
    with Recording.open(path) as recording:
        assert "out of order" in (recording.frames[-1].problem or "")


def test_an_exception_that_the_script_survives(
    tts: TTSModel, low: ModelState, tmp_path: Path
) -> None:
    """In a thread of the model's; the script catches it and speaks on."""
    expected = say(tts, low)
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        with failing(tts.mimi.quantizer, "forward", Broken("once"), 4), pytest.raises(Broken):
            say(tts, low)
        assert torch.equal(say(tts, low), expected)
    with Recording.open(path) as recording:
        assert recording.status == "finished"
        assert sum("once" in (frame.problem or "") for frame in recording.frames) == 1
        assert [chunk.text for chunk in recording.chunks] == ["hello world."] * 2


@pytest.mark.parametrize(
    "error",
    [sqlite3.OperationalError("database or disk is full"), RuntimeError("a bug")],
    ids=["disk full", "bug"],
)
def test_trouble_of_ours(
    tts: TTSModel,
    low: ModelState,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    """It is said once, the recording is over, and the model goes on as if nothing had been."""
    expected = say(tts, low)
    whole = RecordingWriter.add_frame

    def add_frame(self: RecordingWriter, record: FrameRecord) -> None:
        if record.frame.id >= 5:
            if isinstance(error, sqlite3.Error):
                raise UnwritableRecording(self.path, "the disk is full") from error
            raise error
        whole(self, record)

    monkeypatch.setattr(RecordingWriter, "add_frame", add_frame)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
            assert torch.equal(say(tts, low), expected)
            assert torch.equal(say(tts, low), expected)
    assert [each.category for each in said] == [RuntimeWarning]
    assert "KVStudio stopped recording" in str(said[0].message)
    status, reason, count = ended(path)
    assert (status, count) == ("failed", 5)
    assert reason.endswith(("the disk is full", "a bug"))


def test_trouble_where_warnings_are_errors(
    tts: TTSModel, low: ModelState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = say(tts, low)
    monkeypatch.setattr(RecordingWriter, "add_frame", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with kvstudio.record(tts, tmp_path / "run.kvrec"):
            assert torch.equal(say(tts, low), expected)


@pytest.mark.parametrize("how", ["kill", "os._exit(7)"])
def test_the_process_ends_in_the_middle(tmp_path: Path, how: str) -> None:
    """The recording is there up to the last frame that was told of."""
    path = tmp_path / "run.kvrec"
    script = f"""
        import os, signal, sys
        import kvstudio
        from tests.engine.scripts import demo_model, prefilled, steps, voice
        tts = demo_model()
        with kvstudio.record(tts, sys.argv[1]):
            for number, _ in enumerate(steps(tts, prefilled(tts, voice(tts), frames=9), 9)):
                if number == 4:
                    {"os.kill(os.getpid(), signal.SIGKILL)" if how == "kill" else how}
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if how == "kill" else 7)
    status, _, frames = ended(path)
    assert (status, frames) == ("interrupted", 6)  # voice, text, four steps
    assert kvstudio.check(path).verdict == "not verified"
