"""A healthy run is clean: nothing is found in it, whatever the model, voice and text.

A few runs here, and as slow tests more than two thousand frames.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from pocket_tts import export_model_state

from kvstudio.analysis.checker import check
from kvstudio.engine.demo import demo_voice
from kvstudio.engine.gate import Gate
from kvstudio.engine.session import Session
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests import kept, models, voices
from tests.engine.running import session_with

SHORT = "Hi all."
LONG = (
    "The old man who lived at the end of the long and narrow street had a garden full of apple "
    "trees, and every autumn he gave the apples away to whoever came by with a basket."
)
MANY = "The cat sat down. The dog ran off. A bird sang. It rained all day. Then the sun came out."
pytestmark = [
    pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor"),
]
DEMO = ModelSource()
LOW, HIGH = str(demo_voice("low")), str(demo_voice("high"))
RANDOM_LOGITS = 0.2
"""Random weights have stop logits around their bias, within 2 of it; some exceed it by so much."""


def alarms(session: Session, spec: RunSpec, path: Path) -> tuple[list[str], int]:
    """What is found in a run, and how many frames it had.

    Random weights need not end; a run of theirs that was ended by its length may say just that.
    """
    path.unlink(missing_ok=True)
    writer = session.open_recording(spec, path)
    gate = Gate()
    gate.run()
    session.run(spec, writer, gate)
    with Recording.open(path) as recording:
        report = check(recording)
        frames = len(recording.frames)
    usual = "no-eos" if spec.model.kind == "config" else ""
    found = [
        f"{finding.kind}, frame {finding.frame}: {finding.message} ({spec})"
        for finding in report.findings
        if finding.kind != usual
    ]
    if not report.findings and report.verdict != "clean":
        found.append(f"{report.verdict}: {report.reason} ({spec})")
    return found, frames


def random_weights(config: Path, *, quantize: bool = False, ends: bool = True) -> RunSpec:
    """A run of random weights; it ends by EOS some time, as good as at random, or never."""
    source = ModelSource("config", str(config), quantize=quantize)
    threshold = models.NEVER_ENDS + RANDOM_LOGITS if ends else None
    return RunSpec(source, voice=LOW, text=SHORT, temperature=0.7, eos_threshold=threshold)


def every_run(
    specs: Sequence[RunSpec], folder: Path, session: Session | None = None
) -> tuple[list[str], int]:
    """The alarms of all of them, and all their frames."""
    session = session or session_with(specs[0].model, specs[0].voice)
    found: list[str] = []
    frames = 0
    for spec in specs:
        if not session.has_voice(spec):
            session.make_voice(spec.voice)
        alarmed, seen = alarms(session, spec, folder / "run.kvrec")
        found += alarmed
        frames += seen
    return found, frames


def varied(
    spec: RunSpec, seeds: int = 1, texts: Sequence[str] = (SHORT, LONG, MANY)
) -> list[RunSpec]:
    """Texts in few and in many chunks, on a copy of the state and in place."""
    return [
        replace(spec, text=text, copy_state=copy_state, max_tokens=tokens, seed=seed)
        for text, copy_state, tokens, seed in product(
            texts, (True, False), (None, 12), range(1, 1 + seeds)
        )
    ]


# ---- a few, every time ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(DEMO, LOW)


def test_the_demo_model(demo: Session, tmp_path: Path) -> None:
    specs = [
        RunSpec(voice=LOW, text=SHORT),
        RunSpec(voice=HIGH, text="Yes. No. Well.", max_tokens=5, copy_state=False, temperature=0.5),
    ]
    assert every_run(specs, tmp_path, demo)[0] == []


def test_a_voice_that_comes_as_a_state(demo: Session, tmp_path: Path) -> None:
    spec = RunSpec(voice=_state(demo, tmp_path), text=SHORT)
    assert every_run([spec], tmp_path, demo)[0] == []


def test_the_demo_model_in_eight_bits(tmp_path: Path) -> None:
    assert (
        every_run([RunSpec(ModelSource(quantize=True), voice=LOW, text=SHORT)], tmp_path)[0] == []
    )


def test_random_weights(tiny_config: Path, tmp_path: Path) -> None:
    spec = random_weights(tiny_config)
    specs = [
        replace(spec, seed=2),
        replace(spec, text="It rained. It did.", max_tokens=8, copy_state=False),
    ]
    assert every_run(specs, tmp_path)[0] == []


def test_grouped_queries(tiny_grouped_config: Path, tmp_path: Path) -> None:
    assert every_run([random_weights(tiny_grouped_config)], tmp_path)[0] == []


def test_grouped_queries_in_eight_bits(tiny_grouped_config: Path, tmp_path: Path) -> None:
    assert every_run([random_weights(tiny_grouped_config, quantize=True)], tmp_path)[0] == []


def _state(session: Session, folder: Path) -> str:
    """The session's voice as a file."""
    assert session.voice is not None
    path = folder / "voice.safetensors"
    export_model_state(session.voice.state, path)
    return str(path)


# ---- two thousand frames ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("voice", [LOW, HIGH])
@pytest.mark.parametrize("quantize", [False, True], ids=["float", "int8"])
def test_many_frames_of_the_demo_model(tmp_path: Path, voice: str, quantize: bool) -> None:
    spec = RunSpec(ModelSource(quantize=quantize), voice=voice)
    specs = varied(spec) + varied(replace(spec, temperature=0.7, seed=5), texts=(SHORT,))
    found, frames = every_run(specs, tmp_path)
    assert found == []
    assert frames > 500


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", sorted(set(voices.AUDIO) - {"50-ms.wav"}))  # too short for one
def test_voices_of_every_sort(demo: Session, tmp_path: Path, name: str) -> None:
    spec = RunSpec(voice=str(voices.audio(name, tmp_path)), text=SHORT)
    found, _ = every_run([spec], tmp_path, demo)
    # After half a minute of buzzing, which is no speech, the demo model does not find an end.
    assert [each for each in found if not each.startswith("no-eos")] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("quantize", [False, True], ids=["float", "int8"])
@pytest.mark.parametrize("name", [models.TINY, models.TINY_GROUPED, models.ENGLISH_2M])
def test_many_frames_of_random_weights(tmp_path: Path, name: str, quantize: bool) -> None:
    config = kept.model(name)
    specs = varied(random_weights(config, quantize=quantize))
    specs.append(random_weights(config, quantize=quantize, ends=False))
    found, frames = every_run(specs, tmp_path)
    assert found == []
    assert frames > 200


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [models.ENGLISH, models.ENGLISH_24L])
def test_full_size_models(tmp_path: Path, name: str) -> None:
    spec = random_weights(kept.model(name))
    specs = [spec, replace(spec, text=MANY, copy_state=False, max_tokens=20), replace(spec, seed=3)]
    found, frames = every_run(specs, tmp_path)
    assert found == []
    assert frames > 40


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", kept.RELEASES)
def test_every_release(number: str) -> None:
    release = kept.release(number)
    model = ["--python", str(release.python), "--config", str(release.config)]
    run = [sys.executable, "-c", "from kvstudio.cli import main; main()", "check", "--json"]
    asked = [*run, *model, "--voice", LOW, "--text", SHORT]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    found = [each["kind"] for each in json.loads(done.stdout)["findings"]]
    assert found == ["no-eos"]  # its random weights never end
