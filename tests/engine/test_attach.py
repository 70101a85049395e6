"""`kvstudio.record` sees all that a script does, changes nothing, and leaves nothing behind."""

import copy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts import TTSModel
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

import kvstudio
from kvstudio.engine.state import ModelState
from kvstudio.recording.errors import KVStudioError, SpecError, UnwritableRecording
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import TraceLevel
from tests.engine.scripts import HELLO, demo_model, fresh_codec, marks, say, untouched, voice

TWO = "Good day to you. And good night."


@pytest.fixture(scope="module")
def tts() -> Any:  # noqa: ANN401
    return demo_model()


@pytest.fixture(scope="module")
def low(tts: TTSModel) -> Any:  # noqa: ANN401
    return voice(tts)


@pytest.fixture(autouse=True)
def nothing_left(tts: TTSModel) -> Iterator[None]:
    with untouched(tts):
        yield
    assert not _get_current_dispatch_mode_stack()


@pytest.mark.parametrize("trace", ["full", "cache", "off"])
def test_a_recorded_call_is_the_plain_call(
    tts: TTSModel, low: ModelState, tmp_path: Path, trace: TraceLevel
) -> None:
    expected = say(tts, low)
    with kvstudio.record(tts, tmp_path / "run.kvrec", trace=trace) as path:
        audio = say(tts, low)
    assert torch.equal(audio, expected)
    with Recording.open(path) as recording:
        assert recording.status == "finished"
        assert recording.audio().tobytes() == expected.numpy().tobytes()
        assert [chunk.text for chunk in recording.chunks] == ["hello world."]
        assert [frame.phase for frame in recording.frames[:3]] == ["voice", "text", "decode"]
        assert (recording.frames[4].op_count > 0) == (trace == "full")
    if trace == "full":
        report = kvstudio.check(path)
        assert (report.verdict, report.findings) == ("clean", ())


def test_several_calls_several_voices(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """Each chunk owns its frames; a voice made meanwhile is a frame when it first speaks."""
    high = voice(tts, "high")
    expected = [say(tts, low), say(tts, high, TWO, max_tokens=12), say(tts, low)]
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        made = voice(tts, "high")
        heard = [say(tts, low), say(tts, made, TWO, max_tokens=12), say(tts, low)]
    assert all(map(torch.equal, heard, expected))
    with Recording.open(path) as recording:
        chunks, frames = recording.chunks, recording.frames
        assert len(chunks) == 4
        assert {chunk.continues for chunk in chunks} == {None}
        assert recording.audio().tobytes() == torch.cat(expected).numpy().tobytes()
        voices = [frame for frame in frames if frame.phase == "voice"]
        assert [frame.chunk for frame in voices] == [0, 1]
        # That of the first was made before anybody looked.
        assert [frame.op_count > 0 for frame in voices] == [False, True]
    assert kvstudio.check(path).verdict == "clean"


def test_a_state_that_is_used_again_goes_on(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    twin, state = copy.deepcopy(low), copy.deepcopy(low)
    expected = [say(tts, twin, copy_state=False), say(tts, twin, copy_state=False)]
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        heard = [say(tts, state, copy_state=False), say(tts, state, copy_state=False)]
    assert all(map(torch.equal, heard, expected))
    with Recording.open(path) as recording:
        assert [chunk.continues for chunk in recording.chunks] == [None, 0]
        assert recording.chunks[1].current_end > recording.chunks[0].current_end


def test_recording_again_and_over(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    expected = say(tts, low)
    for again in (False, True):
        with kvstudio.record(tts, tmp_path / "run.kvrec", overwrite=again) as path:
            assert torch.equal(say(tts, low), expected)
        assert kvstudio.check(path).verdict == "clean"
    assert [file.name for file in tmp_path.iterdir()] == ["run.kvrec"]


def test_a_stream_given_up_half_way(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """Its threads go on, as they do without us; what is said next has its own chunk."""
    expected = say(tts, low)
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        stream = tts.generate_audio_stream(low, TWO)
        next(stream)
        stream.close()
        unused = tts.generate_audio_stream(low, HELLO)
        assert torch.equal(say(tts, low), expected)
        del unused
    with Recording.open(path) as recording:
        assert recording.chunks[-1].text == "hello world."
        last = [frame.id for frame in recording.frames if frame.chunk == len(recording.chunks) - 1]
        heard = [samples for frame, _, samples in recording.audio_frames() if frame in last]
        assert b"".join(each.tobytes() for each in heard) == expected.numpy().tobytes()
    assert kvstudio.check(path).verdict == "clean"


def test_a_stream_that_outlives_the_block(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    torch.manual_seed(1)
    expected = torch.cat(list(tts.generate_audio_stream(low, HELLO)))
    torch.manual_seed(1)
    stream = tts.generate_audio_stream(low, HELLO)
    before = marks(tts)
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        heard = [next(stream)]
    assert marks(tts) == before
    assert torch.equal(torch.cat([*heard, *stream]), expected)
    with Recording.open(path) as recording:
        assert recording.status == "finished"
        assert 2 <= len(recording.frames) < 14


def test_a_copy_made_meanwhile_is_a_plain_model(
    tts: TTSModel, low: ModelState, tmp_path: Path
) -> None:
    expected = say(tts, low)
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        twin = copy.deepcopy(tts)
        assert torch.equal(say(twin, low), expected)
    assert torch.equal(say(twin, low), expected)
    for (name, own), (_, other) in zip(tts.named_modules(), twin.named_modules(), strict=True):
        assert type(own) is type(other), name
        assert vars(own).keys() == vars(other).keys(), name
    with Recording.open(path) as recording:
        assert recording.frames == []
    report = kvstudio.check(path)
    assert (report.verdict, report.frames) == ("not verified", 0)


def test_with_gradients(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """A script may train: what it does with gradients is not ours to switch off."""
    codec = fresh_codec(tts)
    latent = torch.zeros(1, 1, tts.flow_lm.ldim, requires_grad=True)
    with kvstudio.record(tts, tmp_path / "run.kvrec"):
        tts.mimi.decode_from_latent(latent, codec).sum().backward()
    assert latent.grad is not None
    assert bool(latent.grad.any())


def test_two_models_at_once(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    other = demo_model()
    expected = say(tts, low)
    with (
        kvstudio.record(tts, tmp_path / "one.kvrec") as one,
        kvstudio.record(other, tmp_path / "other.kvrec") as second,
    ):
        assert torch.equal(say(tts, low), expected)
        assert torch.equal(say(other, low), expected)
    for path in (one, second):
        report = kvstudio.check(path)
        assert (report.verdict, report.frames) == ("clean", 17)


# ---- what is refused, before anything is touched -----------------------------------------------


def refusal(tts: object, path: Path, **how: Any) -> str:  # noqa: ANN401
    with pytest.raises(KVStudioError) as refused, kvstudio.record(tts, path, **how):
        pytest.fail("the block was entered")
    return str(refused.value)


def test_not_a_model(tmp_path: Path) -> None:
    path = tmp_path / "run.kvrec"
    assert refusal("english", path) == "record() needs a pocket-tts TTSModel, not str"
    assert "this Linear has no _run_flow_lm" in refusal(torch.nn.Linear(2, 2), path)
    assert not path.exists()


def test_a_bad_trace_level(tts: TTSModel, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="unknown trace level 'most'; known: full, cache, off"):
        kvstudio.record(tts, tmp_path / "run.kvrec", trace="most").__enter__()  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_already_being_recorded(tts: TTSModel, tmp_path: Path) -> None:
    with kvstudio.record(tts, tmp_path / "run.kvrec"):
        assert "is being recorded already" in refusal(tts, tmp_path / "other.kvrec")
    assert not (tmp_path / "other.kvrec").exists()


def test_a_path_that_cannot_be_used(tts: TTSModel, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("mine")
    assert "a file of this name exists" in refusal(tts, text)
    assert "is not a recording, so it is not overwritten" in refusal(tts, text, overwrite=True)
    assert text.read_text() == "mine"
    assert "is not a recording" in refusal(tts, tmp_path, overwrite=True)
    assert "does not exist" in refusal(tts, tmp_path / "nowhere" / "run.kvrec")
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        other = demo_model()
        with (
            pytest.raises(UnwritableRecording, match="is being written at the moment"),
            kvstudio.record(other, path, overwrite=True),
        ):
            pytest.fail("the block was entered")


def test_importing_kvstudio_does_not_import_torch() -> None:
    check = "import sys, kvstudio; kvstudio.record; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
