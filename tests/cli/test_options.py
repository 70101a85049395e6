"""The options that make a run spec."""

from pathlib import Path
from typing import Any

import pytest

from kvstudio.cli.flags import Trace
from kvstudio.cli.options import run_options
from kvstudio.recording.errors import RecordingError, SpecError
from kvstudio.recording.spec import Edit, ModelSource, RunSpec
from tests.fakes import FakeRun

SAID: dict[str, Any] = {"voice": "v.wav", "text": "Hi."}


def test_nothing_given_is_the_demo_run() -> None:
    options = run_options()
    assert (options.spec, options.python, options.asked) == (RunSpec(), None, False)


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ({"demo": True}, ModelSource()),
        ({"language": "english", **SAID}, ModelSource("language", "english")),
        ({"config": "hf://a/b.yaml", **SAID}, ModelSource("config", "hf://a/b.yaml")),
        ({"checkpoint": "last.pt", **SAID}, ModelSource("checkpoint", "last.pt")),
        (
            {"checkpoint": "last.pt", "language": "french", **SAID},
            ModelSource("checkpoint", "last.pt", config="french"),
        ),
        (
            {"checkpoint": "last.pt", "config": "my.yaml", **SAID},
            ModelSource("checkpoint", "last.pt", config="my.yaml"),
        ),
        (
            {"language": "english", "quantize": True, "device": "cuda:0", **SAID},
            ModelSource("language", "english", quantize=True, device="cuda:0"),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_the_model(given: dict[str, Any], source: ModelSource) -> None:
    options = run_options(**given)
    assert options.spec.model == source
    assert options.asked


def test_everything_else() -> None:
    options = run_options(
        voice="low",
        text="Hi.",
        seed=7,
        temperature=0.5,
        decode_steps=2,
        eos_threshold=-1.0,
        frames_after_eos=0,
        max_tokens=20,
        in_place=True,
        trace=Trace.CACHE,
        edit=["poke-nan:layer=2,slot=7@12", "lost-write@3"],
        python="/opt/fork",
    )
    assert options.spec == RunSpec(
        voice="low",
        text="Hi.",
        seed=7,
        temperature=0.5,
        decode_steps=2,
        eos_threshold=-1.0,
        frames_after_eos=0,
        max_tokens=20,
        copy_state=False,
        trace="cache",
        edits=(Edit("poke-nan", 12, {"layer": "2", "slot": "7"}), Edit("lost-write", 3)),
    )
    assert (options.python, options.asked) == ("/opt/fork", True)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"demo": True, "language": "english"}, "--demo and --language name different models"),
        ({"language": "a", "config": "b"}, "--language and --config name different models"),
        ({"demo": True, "checkpoint": "c"}, "--demo and --checkpoint name different models"),
        ({"language": "english", "text": "Hi."}, "give --voice: only the demo model"),
        ({"language": "english", "voice": "a.wav"}, "give --text: only the demo model"),
        ({"seed": -1}, "the seed must be"),
        ({"temperature": -1.0}, "temperature must be"),
        ({"edit": ["poke"]}, "cannot read the edit 'poke': write RECIPE@FRAME"),
        ({"edit": ["poke@3"]}, "unknown recipe 'poke': did you mean poke-"),
    ],
)
def test_what_makes_no_sense_is_said(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        run_options(**given)


@pytest.fixture
def base() -> RunSpec:
    return RunSpec(model=ModelSource("language", "english"), voice="a.wav", text="Hi.", seed=5)


@pytest.mark.parametrize("suffix", [".json", ".kvrec"])
def test_a_run_is_repeated_from_a_spec_or_a_recording(
    tmp_path: Path, base: RunSpec, suffix: str
) -> None:
    file = tmp_path / f"run{suffix}"
    if suffix == ".json":
        file.write_text(base.to_json(), encoding="utf-8")
    else:
        FakeRun(file, spec=base).run(1)
    assert run_options(spec=file).spec == base
    changed = run_options(spec=file, seed=6, quantize=True, in_place=False)
    assert changed.spec.seed == 6
    assert changed.spec.model == ModelSource("language", "english", quantize=True)
    assert changed.spec.voice == "a.wav"
    assert run_options(spec=file, demo=True).spec.model == ModelSource()


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.json", "{", SpecError),
        ("a.json", "\udce9", SpecError),
        ("missing.json", None, SpecError),
        ("a.kvrec", "text", RecordingError),
        ("missing.kvrec", None, RecordingError),
    ],
)
def test_a_spec_that_cannot_be_read_is_said(
    tmp_path: Path, name: str, content: str | None, error: type[Exception]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(error, match=name):
        run_options(spec=tmp_path / name)
