"""The difficult files are what they claim to be, and pocket-tts meets them as we think it does."""

import contextlib
import pickle
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from pocket_tts import TTSModel
from pydantic import ValidationError
from safetensors import SafetensorError
from yaml import YAMLError

from tests import voices


@pytest.fixture(scope="module")
def tts(tiny_config: Path) -> TTSModel:
    return TTSModel.load_model(config=tiny_config, eos_threshold=-1e6)


@pytest.fixture(scope="module")
def state(tiny_config: Path) -> Path:
    return tiny_config.with_name("voice.safetensors")


@pytest.mark.parametrize("name", voices.AUDIO)
def test_unusual_audio_is_audio(name: str, tmp_path: Path) -> None:
    samples, _ = soundfile.read(voices.audio(name, tmp_path), dtype="float32")
    assert len(samples) > 0
    assert np.isfinite(samples).all()
    assert abs(samples).max() > 0.1


@pytest.mark.parametrize(
    "name", sorted(voices.AUDIO.keys() - {"10-minutes.wav", "32-bit-float.wav"})
)
def test_unusual_audio_makes_a_voice(name: str, tmp_path: Path, tts: TTSModel) -> None:
    voice = tts.get_state_for_audio_prompt(voices.audio(name, tmp_path))
    assert all(entry["cache"].isfinite().all() for entry in voice.values())


def test_float_wav_is_too_much_for_pocket_tts(tmp_path: Path, tts: TTSModel) -> None:
    """It opens WAV files with the `wave` module, which knows no float: we must read them."""
    with pytest.raises(wave.Error, match="unknown format: 3"):
        tts.get_state_for_audio_prompt(voices.audio("32-bit-float.wav", tmp_path))


@pytest.mark.parametrize("name", ["empty.wav", "not-audio.wav", "cut.wav"])
def test_broken_audio_cannot_be_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(soundfile.LibsndfileError):
        soundfile.read(voices.audio(name, tmp_path))


def test_zero_length_audio_is_read_as_nothing(tmp_path: Path) -> None:
    assert len(soundfile.read(voices.audio("zero-length.wav", tmp_path))[0]) == 0


def test_nan_in_audio_makes_pocket_tts_stumble(tmp_path: Path, tts: TTSModel) -> None:
    """No frame counts as loud any more; releases before 4 make a voice of NaN out of it."""
    samples, _ = soundfile.read(voices.audio("nan.wav", tmp_path), dtype="float32")
    with pytest.raises(IndexError):
        tts.get_state_for_audio_prompt(torch.from_numpy(samples)[None])


@pytest.mark.parametrize(
    "write",
    [voices.state_of_fewer_layers, voices.state_of_other_heads, voices.state_of_other_dim],
)
def test_foreign_state_breaks_generation(
    write: Callable[[Path, Path], Path], state: Path, tmp_path: Path, tts: TTSModel
) -> None:
    foreign = tts.get_state_for_audio_prompt(write(state, tmp_path))
    with pytest.raises((KeyError, RuntimeError)):
        tts.generate_audio(foreign, "Hello.")


def test_state_of_more_layers_is_swallowed(state: Path, tmp_path: Path, tts: TTSModel) -> None:
    foreign = tts.get_state_for_audio_prompt(voices.state_of_more_layers(state, tmp_path))
    assert len(foreign) == 4
    assert tts.generate_audio(foreign, "Hello.").isfinite().all()


def test_current_end_is_taken_for_the_offset(state: Path, tmp_path: Path, tts: TTSModel) -> None:
    new = tts.get_state_for_audio_prompt(state)
    old = tts.get_state_for_audio_prompt(voices.state_with_current_end(state, tmp_path))
    for name, entry in old.items():
        assert set(entry) == {"cache", "offset"}
        assert torch.equal(entry["offset"], new[name]["offset"])
    assert tts.generate_audio(old, "Hello.").isfinite().all()


def test_nan_in_a_state_silences_the_run(state: Path, tmp_path: Path, tts: TTSModel) -> None:
    poisoned = tts.get_state_for_audio_prompt(voices.state_with_nan(state, tmp_path))
    assert tts.generate_audio(poisoned, "Hello.").isnan().all()


def test_cut_state_cannot_be_read(state: Path, tmp_path: Path, tts: TTSModel) -> None:
    with pytest.raises(SafetensorError):
        tts.get_state_for_audio_prompt(voices.state_cut(state, tmp_path))


def test_offset_past_the_cache_leaves_a_hole(state: Path, tmp_path: Path, tts: TTSModel) -> None:
    beyond = tts.get_state_for_audio_prompt(
        voices.state_with_offset_past_the_cache(state, tmp_path)
    )
    assert tts.generate_audio(beyond, "Hello.").isnan().all()


def test_other_safetensors_are_no_state(tmp_path: Path, tts: TTSModel) -> None:
    with pytest.raises(ValueError, match="not enough values"):
        tts.get_state_for_audio_prompt(voices.state_of_something_else(tmp_path))


def test_bad_configs_are_refused(tiny_config: Path, tmp_path: Path) -> None:
    def load(path: Path) -> None:
        TTSModel.load_model(config=path)

    with pytest.raises(ValidationError, match="d_model"):
        load(voices.config_without(tiny_config, tmp_path, "flow_lm", "transformer", "d_model"))
    with pytest.raises(ValidationError, match="colour"):
        load(voices.config_with_unknown_key(tiny_config, tmp_path))
    with pytest.raises(RuntimeError, match="Missing key"):
        load(voices.config_with_wrong_weights(tiny_config, tmp_path))
    with pytest.raises(FileNotFoundError):
        load(voices.config_with_lost_weights(tiny_config, tmp_path))
    with pytest.raises(SafetensorError):
        load(voices.config_with_cut_weights(tiny_config, tmp_path))
    with pytest.raises(YAMLError):
        load(voices.config_that_is_no_yaml(tmp_path))


def test_checkpoint_plays(tiny_config: Path, tmp_path: Path, state: Path) -> None:
    tts = TTSModel.load_model(
        config=tiny_config, checkpoint=voices.checkpoint(tiny_config, tmp_path), eos_threshold=-1e6
    )
    assert tts.has_custom_weights
    voice = tts.get_state_for_audio_prompt(state)
    assert tts.generate_audio(voice, "Hello.").isfinite().all()


def test_checkpoint_without_a_model_is_refused(tiny_config: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no 'model' weights"):
        TTSModel.load_model(
            config=tiny_config, checkpoint=voices.checkpoint_without_model(tmp_path)
        )


@pytest.mark.parametrize("write", [voices.hostile_checkpoint, voices.hostile_plain_pickle])
def test_hostile_checkpoint_is_hostile_and_refused(
    write: Callable[[Path, Path], Path], tiny_config: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "code-was-run"
    hostile = write(tmp_path, marker)

    with pytest.raises(pickle.UnpicklingError):
        TTSModel.load_model(config=tiny_config, checkpoint=hostile)
    assert not marker.exists()

    with contextlib.suppress(RuntimeError):  # a bare pickle is run first and complained of later
        torch.load(hostile, weights_only=False)
    assert marker.exists()
