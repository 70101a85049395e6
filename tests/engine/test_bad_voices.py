"""Voices that cannot be used say why and what to do, and leave the engine as it was."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from kvstudio.engine.failures import explain
from kvstudio.engine.session import Session
from kvstudio.recording.spec import ModelSource, RunSpec
from tests import voices
from tests.engine.running import observed, session_with

NOTES = {"10-minutes.wav": "600 s long; only the first 30 s are used"}
SLOTS_A_SECOND = 12.5
MARKER_SLOTS = 1  # the learned vector before the voice


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(scope="module")
def tiny(tiny_config: Path) -> Session:
    return session_with(ModelSource("config", str(tiny_config)), str(_state(tiny_config)))


def why_not(session: Session, voice: str) -> str:
    """The message for a voice that must be refused, after which the voice before still speaks."""
    before = session.voice
    with pytest.raises(Exception, match=r".") as caught:
        session.make_voice(voice)
    assert session.voice is before
    return explain(caught.value, "making the voice")[0]


def speaks(session: Session, folder: Path) -> bool:
    assert session.voice is not None
    spec = RunSpec(
        model=session.source or ModelSource(),
        voice=session.voice.card["source"],
        text="a",
        eos_threshold=-1000.0,
        trace="off",
    )
    outcome, heard = observed(session, spec, folder / "speaks.kvrec")
    return outcome.status == "finished" and bool(torch.isfinite(heard.audio).all())


@pytest.mark.parametrize("name", [name for name in voices.AUDIO if name != "50-ms.wav"])
def test_unusual_audio_is_a_voice(demo: Session, tmp_path: Path, name: str) -> None:
    card = demo.make_voice(str(voices.audio(name, tmp_path)))
    seconds = 30.0 if name == "10-minutes.wav" else 1.5
    assert card["seconds"] == pytest.approx(seconds, abs=0.01)
    assert card["note"] == NOTES.get(name, "")
    assert card["layers"] == 6
    # The pause at the end of a prompt is cut to a standard length.
    assert card["slots"] == pytest.approx(seconds * SLOTS_A_SECOND + MARKER_SLOTS, abs=3)
    assert speaks(demo, tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("50-ms.wav", "only 0.050 s long; a voice prompt needs at least 0.08 s"),
        ("empty.wav", "empty.wav is empty; choose another voice file"),
        ("not-audio.wav", "not-audio.wav is not audio that can be read"),
        ("cut.wav", "cut.wav is not audio that can be read"),
        ("zero-length.wav", "only 0.000 s long"),
        ("nan.wav", "nan.wav has 10 samples that are NaN or infinite"),
    ],
)
def test_audio_that_is_no_voice(demo: Session, tmp_path: Path, name: str, words: str) -> None:
    assert words in why_not(demo, str(voices.audio(name, tmp_path)))


@pytest.mark.parametrize("suffix", [".wav", ".safetensors", ""])
def test_folder_in_the_place_of_a_voice(demo: Session, tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / f"voice{suffix}"
    folder.mkdir()
    assert why_not(demo, str(folder)) == f"{folder} is a folder; choose an audio file"


@pytest.mark.parametrize("suffix", [".wav", ".safetensors"])
def test_voice_that_is_not_there(demo: Session, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"lost{suffix}"
    assert why_not(demo, str(path)) == f"there is no voice file {path}"


def test_empty_state_file(demo: Session, tmp_path: Path) -> None:
    path = tmp_path / "nothing.safetensors"
    path.touch()
    assert why_not(demo, str(path)) == "nothing.safetensors is empty; choose another voice file"


def test_unknown_name_tells_the_known_ones(demo: Session, tiny: Session) -> None:
    assert "no voice file or predefined voice 'nobody'" in why_not(demo, "nobody")
    assert why_not(demo, "nobody").endswith("one of high, low, mid")
    assert "alba" in why_not(tiny, "nobody")


def test_predefined_voice_of_another_model(demo: Session, tiny: Session) -> None:
    for session in (demo, tiny):
        words = why_not(session, "alba")
        assert "predefined voices are made for the models that pocket-tts ships" in words
        assert "choose an audio file" in words


def test_no_voice(demo: Session) -> None:
    assert why_not(demo, " ") == "no voice chosen: pick a voice file or a predefined voice"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (voices.state_of_more_layers, "it has 4 layers, this model has 3"),
        (voices.state_of_fewer_layers, "it has 2 layers, this model has 3"),
        (voices.state_of_other_heads, "6, 16], this model needs [2, 1, T, 3, 16]"),
        (voices.state_of_other_dim, "3, 32], this model needs [2, 1, T, 3, 16]"),
        (voices.state_with_offset_past_the_cache, "says 1015 slots are in use of 15"),
        (voices.state_cut, "cut.safetensors is not a voice state"),
    ],
)
def test_state_that_does_not_fit(
    tiny: Session,
    tiny_config: Path,
    tmp_path: Path,
    change: Callable[[Path, Path], Path],
    words: str,
) -> None:
    path = change(_state(tiny_config), tmp_path)
    message = why_not(tiny, str(path))
    assert words in message
    if "layers" in change.__name__ or "other" in change.__name__:
        assert message.startswith("this voice state was made by another model")
        assert message.endswith("Make the voice again from its audio file")


def test_state_of_a_batch(tiny: Session, tiny_config: Path, tmp_path: Path) -> None:
    tensors = load_file(_state(tiny_config))
    path = tmp_path / "two.safetensors"
    save_file(
        {
            key: value.repeat_interleave(2, 1) if key.endswith("/cache") else value
            for key, value in tensors.items()
        },
        path,
    )
    assert "holds [2, 2, 15, 3, 16]" in why_not(tiny, str(path))


def test_safetensors_of_something_else(tiny: Session, tmp_path: Path) -> None:
    words = why_not(tiny, str(voices.state_of_something_else(tmp_path)))
    assert "something-else.safetensors is not a voice state" in words


@pytest.mark.parametrize("change", [voices.state_with_current_end, voices.state_with_nan])
def test_state_that_is_accepted(
    tiny: Session, tiny_config: Path, tmp_path: Path, change: Callable[[Path, Path], Path]
) -> None:
    """An old one, and one with NaN in a slot: looking into that is what KVStudio is for."""
    card = tiny.make_voice(str(change(_state(tiny_config), tmp_path)))
    assert card["slots"] == 15
    tiny.make_voice(str(_state(tiny_config)))


def test_engine_speaks_afterwards(demo: Session, tiny: Session, tmp_path: Path) -> None:
    assert speaks(demo, tmp_path)
    (tmp_path / "speaks.kvrec").unlink()
    assert speaks(tiny, tmp_path)


def _state(config: Path) -> Path:
    return config.with_name("voice.safetensors")
