"""Observing changes nothing: a held, traced and recorded run is the plain run, bit for bit."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kvstudio.engine import cards
from kvstudio.engine.session import Session
from kvstudio.paths import resources
from kvstudio.recording.spec import ModelSource, RunSpec, TraceLevel
from tests.engine.running import (
    assert_same_run,
    assert_same_state,
    observed,
    plain,
    raw,
    session_with,
)

HELLO = "Hello world."
CHUNKS = "The cat sat down. The dog ran off. A bird sang."
FEW = "Yes."
ENDS_AT_ONCE = -1000.0


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(ModelSource(), "low")


@pytest.mark.parametrize(
    "spec",
    [
        RunSpec(text=HELLO),
        RunSpec(text=HELLO, voice="high", seed=7),
        RunSpec(text="one two three four five", temperature=0.7),
        RunSpec(text=HELLO, temperature=0.7, decode_steps=2, seed=2**40),
        RunSpec(text=CHUNKS, max_tokens=20),
        RunSpec(text=CHUNKS, max_tokens=20, copy_state=False, temperature=0.7),
        RunSpec(text=HELLO, copy_state=False),
        RunSpec(text=FEW, eos_threshold=1e9, frames_after_eos=0),
        RunSpec(text=FEW, eos_threshold=-1e9, frames_after_eos=3),
    ],
    ids=[
        "temperature 0",
        "other voice and seed",
        "temperature 0.7",
        "two decode steps",
        "chunks",
        "chunks in place",
        "in place",
        "to maximum length",
        "ends at once",
    ],
)
def test_demo_model(demo: Session, tmp_path: Path, spec: RunSpec) -> None:
    demo.make_voice(spec.voice)
    expected = plain(demo, spec)
    outcome, heard = observed(demo, spec, tmp_path / "run.kvrec")
    assert outcome.status == "finished"
    assert_same_run(heard, expected)


@pytest.mark.parametrize("trace", ["cache", "off"])
def test_at_every_trace_level(demo: Session, tmp_path: Path, trace: TraceLevel) -> None:
    spec = RunSpec(text=CHUNKS, max_tokens=20, temperature=0.7, copy_state=False)
    expected = plain(demo, spec)
    outcome, heard = observed(demo, replace(spec, trace=trace), tmp_path / "run.kvrec")
    assert outcome.status == "finished"
    assert_same_run(heard, expected)


def test_several_chunks_are_several(demo: Session) -> None:
    heard = plain(demo, RunSpec(text=CHUNKS, max_tokens=20))
    assert len(heard.flow_states) == len(heard.mimi_states) == 3


def test_a_run_repeats_itself(demo: Session, tmp_path: Path) -> None:
    spec = RunSpec(text=HELLO, temperature=0.7)
    _, first = observed(demo, spec, tmp_path / "1.kvrec")
    torch.rand(5)
    _, second = observed(demo, spec, tmp_path / "2.kvrec")
    _, other = observed(demo, replace(spec, seed=9), tmp_path / "3.kvrec")
    assert_same_run(first, second)
    assert raw(other.latents[0]) != raw(first.latents[0])


def test_grouped_queries(tiny_grouped_config: Path, tmp_path: Path) -> None:
    source = ModelSource("config", str(tiny_grouped_config))
    session = session_with(source, _voice_beside(tiny_grouped_config))
    spec = RunSpec(text="One two. Three four.", max_tokens=8, eos_threshold=ENDS_AT_ONCE)
    _compare(session, spec, tmp_path)


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantised(tmp_path: Path) -> None:
    session = session_with(ModelSource(quantize=True), "low")
    assert session.tts is not None
    assert cards.quantization(session.tts).endswith("int8")
    _compare(session, RunSpec(text=HELLO, temperature=0.7), tmp_path)


@pytest.mark.parametrize("voice", ["low", "high"])
def test_a_voice_made_under_trace_is_the_voice(demo: Session, voice: str) -> None:
    demo.make_voice(voice)
    assert demo.voice is not None
    assert demo.tts is not None
    file = resources() / "demo" / "voices" / f"{voice}.wav"
    assert_same_state(demo.voice.state, demo.tts.get_state_for_audio_prompt(file))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("config", ["english_config", "english_24l_config", "english_2m_config"])
@pytest.mark.parametrize("copy_state", [True, False], ids=["copied", "in place"])
def test_full_size(
    request: pytest.FixtureRequest, tmp_path: Path, config: str, copy_state: bool
) -> None:
    path: Path = request.getfixturevalue(config)
    session = session_with(ModelSource("config", str(path)), _voice_beside(path))
    spec = RunSpec(
        text=FEW,
        temperature=0.7,
        eos_threshold=ENDS_AT_ONCE,
        frames_after_eos=6,
        copy_state=copy_state,
    )
    _compare(session, spec, tmp_path)


def _compare(session: Session, spec: RunSpec, folder: Path) -> None:
    expected = plain(session, spec)
    outcome, heard = observed(session, spec, folder / "run.kvrec")
    assert outcome.status == "finished", outcome
    assert_same_run(heard, expected)


def _voice_beside(config: Path) -> str:
    return str(config.with_name("voice.safetensors"))
