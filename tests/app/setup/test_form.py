"""What is filled in: which problems are named, and which run spec comes out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kvstudio.app.setup.form import SetupForm
from kvstudio.recording.errors import SpecError
from kvstudio.recording.spec import ModelSource, RunSpec

if TYPE_CHECKING:
    from pathlib import Path

FORM = SetupForm()


def test_a_new_user_can_run_the_demo_at_once() -> None:
    assert FORM.problems() == {}
    assert FORM.spec() == RunSpec()


def test_numbers_left_empty_are_the_models_own() -> None:
    spec = FORM.spec()
    assert (spec.temperature, spec.decode_steps, spec.max_tokens) == (None, None, None)


def test_numbers_typed_reach_the_spec() -> None:
    form = replace(
        FORM, seed=" 42 ", temperature="0,7", decode_steps="4", eos_threshold="-3.5",
        frames_after_eos="0", max_tokens="25", copy_state=False, trace="cache",
    )  # fmt: skip
    assert form.spec() == RunSpec(
        seed=42, temperature=0.7, decode_steps=4, eos_threshold=-3.5, frames_after_eos=0,
        max_tokens=25, copy_state=False, trace="cache",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        ("text", "  \n", "type a text"),
        ("voice", " ", "choose a voice"),
        ("voice", "/nowhere/x.wav", "no voice file"),
        ("voice", "x.safetensors", "no voice file x.safetensors"),
        ("seed", "", "needs a seed"),
        ("seed", "x", "seed must be a whole number, not 'x'"),
        ("seed", "-1", "between 0 and"),
        ("temperature", "hot", "must be a number, not 'hot'"),
        ("temperature", "nan", "must be a number, not 'nan'"),
        ("temperature", "-1", "must be 0 or more"),
        ("decode_steps", "0", "1 or more"),
        ("decode_steps", "1.5", "must be a whole number"),
        ("frames_after_eos", "-2", "0 or more"),
        ("max_tokens", "0", "1 or more"),
        ("eos_threshold", "inf", "must be a number"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(field: str, typed: str, words: str) -> None:
    changes: dict[str, Any] = {field: typed}
    form = replace(FORM, **changes)
    assert list(form.problems()) == [field]
    assert words in form.problems()[field]
    with pytest.raises(SpecError, match=words):
        form.spec()


@pytest.mark.parametrize("voice", ["alba", "hf://kyutai/tts-voices/x.wav", "https://x/y.wav"])
def test_a_voice_that_is_no_local_file_is_left_to_the_engine(voice: str) -> None:
    assert replace(FORM, voice=voice).spec().voice == voice


def test_models_of_every_kind(tmp_path: Path) -> None:
    config, checkpoint = tmp_path / "a.yaml", tmp_path / "b.pt"
    config.touch()
    checkpoint.touch()
    form = replace(
        FORM, language="english", config=str(config), checkpoint=str(checkpoint),
        checkpoint_config="english", quantize=True, device="cuda:0",
    )  # fmt: skip
    made = {kind: replace(form, kind=kind).model() for kind in ("language", "config", "checkpoint")}
    assert made == {
        "language": ModelSource("language", "english", "", True, "cuda:0"),
        "config": ModelSource("config", str(config), "", True, "cuda:0"),
        "checkpoint": ModelSource("checkpoint", str(checkpoint), "english", True, "cuda:0"),
    }
    for kind, source in made.items():
        spec = RunSpec(model=source, temperature=0.5, text="Again.")
        assert SetupForm.of_spec(spec).spec() == spec, kind


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"kind": "language"}, "language", "choose a language"),
        ({"kind": "config"}, "config", "choose a config file"),
        ({"kind": "config", "config": "/nowhere/a.yaml"}, "config", "no config file"),
        ({"kind": "config", "config": "/"}, "config", "is a folder"),
        ({"kind": "checkpoint"}, "checkpoint", "choose a checkpoint"),
    ],
)
def test_a_model_that_cannot_be_loaded(changes: dict[str, Any], field: str, words: str) -> None:
    form = replace(FORM, **changes)
    assert words in form.model_problems()[field]
    with pytest.raises(SpecError):
        form.model()


def test_a_model_can_be_loaded_before_there_is_a_text() -> None:
    assert replace(FORM, text="").model() == ModelSource()


def test_what_was_kept_comes_back() -> None:
    form = replace(FORM, text="Größe", quantize=True, seed="9")
    assert SetupForm.from_dict(form.to_dict()) == form


def test_what_was_kept_by_another_version_harms_nothing() -> None:
    kept = {"text": 5, "quantize": "yes", "kind": "onnx", "trace": "loud", "colour": 1, "seed": "3"}
    assert SetupForm.from_dict(kept) == replace(FORM, seed="3")
