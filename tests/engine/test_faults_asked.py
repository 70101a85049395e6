"""What cannot be applied is said before the run; a fault ends with its run, however that ends."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pocket_tts import export_model_state

from kvstudio.engine.gate import Gate
from kvstudio.engine.session import Session
from kvstudio.recording.errors import SpecError
from kvstudio.recording.reader import Recording
from kvstudio.recording.recipes import parse_edit
from kvstudio.recording.spec import Edit, ModelSource, RunSpec
from tests.engine.planting import TEXT, plant, raw_state, snapshot
from tests.engine.running import observed, session_with, stepped


@pytest.fixture(scope="module")
def session() -> Session:
    return session_with(ModelSource(), "low")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (Edit("of-by-one-read", 3), "unknown recipe 'of-by-one-read': did you mean off-by-one"),
        (Edit("lost-write", 6, {"lair": "2"}), "lost-write has no argument 'lair'; it has layer"),
        (Edit("lost-write", 6, {"layer": "6"}), "there is no layer 6; FlowLM has layers 0 to 5"),
        (Edit("shared-cache", 6, {"layer": "8"}), "there is no layer 8; FlowLM has layers 0 to"),
        (Edit("codec-overflow", 6, {"layer": "2"}), "the decoder of Mimi has layers 0 to 1"),
        (Edit("lost-write", 9999), "lost-write@9999 can never be applied: .* last frame is frame"),
        (Edit("no-marker", 5), "no-marker cannot be applied at frame 5; .* at frame 0"),
        (Edit("poke-nan", 0, {"slot": "900"}), "there is no slot 900 before frame 0; the cache"),
        (Edit("poke-nan", 0, {"slot": "-99"}), "there is no slot -80 before frame 0; the cache"),
        (Edit("poke-nan", 0, {"head": "4"}), "there is no head 4; K and V have heads 0 to 3"),
        (Edit("poke-voice", 0, {"count": "3", "slot": "18"}), "there is no slot 20 before frame"),
        (Edit("poke-voice", 0, {"voice": "nobody"}), "there is no voice file .* 'nobody'"),
        (Edit("offset-short", 0, {"by": "20"}), "the offset is 19, so it cannot be 20 shorter"),
    ],
)
def test_said_before_the_run(session: Session, tmp_path: Path, edit: Edit, says: str) -> None:
    before = snapshot(session.tts)
    path = tmp_path / "run.kvrec"
    with pytest.raises(Exception, match=says):
        session.open_recording(RunSpec(text=TEXT, edits=(edit,)), path)
    assert not path.exists()
    assert snapshot(session.tts) == before


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("poke-nan:slot=500@4", "there is no slot 500 before frame 4; the cache has slots 0 to"),
        ("codec-reset@2", "before frame 2 nothing has been decoded, so there is no state to reset"),
    ],
)
def test_said_by_the_run(session: Session, tmp_path: Path, edit: str, says: str) -> None:
    ran = plant(session, tmp_path, edit)
    assert ran.outcome.status == "failed"
    assert says in ran.outcome.reason


def test_a_voice_that_comes_made(session: Session, tmp_path: Path) -> None:
    assert session.voice is not None
    file = tmp_path / "low.safetensors"
    export_model_state(session.voice.state, file)
    spec = RunSpec(text=TEXT, voice=str(file), edits=(parse_edit("no-marker@0"),))
    with pytest.raises(SpecError, match="no-marker changes how a voice is made, but this voice"):
        session.open_recording(spec, tmp_path / "run.kvrec")


def test_a_model_without_a_marker(tiny_config: Path, demo_voice: Path, tmp_path: Path) -> None:
    tiny = session_with(ModelSource("config", str(tiny_config)), str(demo_voice))
    assert tiny.tts is not None
    tiny.tts.flow_lm.insert_bos_before_voice = False
    spec = RunSpec(tiny.source or ModelSource(), str(demo_voice), TEXT)
    with pytest.raises(SpecError, match="no-marker: this model has no marker before the voice"):
        tiny.open_recording(spec.with_edit(parse_edit("no-marker@0")), tmp_path / "run.kvrec")


def test_a_release_without_the_name(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session.tts is not None
    attention = session.tts.flow_lm.transformer.layers[0].self_attn
    backend = type(attention._cache_backend)
    monkeypatch.setattr(backend, "__module__", "kvstudio.paths")  # as if it were written there
    ran = plant(session, tmp_path, "lost-write@4")
    assert ran.outcome.status == "failed"
    assert (
        "lost-write cannot be applied to this release of pocket-tts: "
        "kvstudio.paths has no complete_kv"
    ) in ran.outcome.reason


def test_a_frame_that_was_not_reached_is_said(session: Session, tmp_path: Path) -> None:
    ran = plant(session, tmp_path, "lost-write@30", "poke-zero@4", text="Hi all.")
    assert ran.outcome.status == "finished"
    assert ran.outcome.reason == "ended by EOS; lost-write@30 never took place"


def test_undone_when_the_user_stops(session: Session, tmp_path: Path) -> None:
    before = snapshot(session.tts)
    edits = ("off-by-one-read@2", "rope-zero@2", "never-ends@2", "codec-step@2")
    spec = RunSpec(text=TEXT, edits=tuple(parse_edit(edit) for edit in edits))
    gate = Gate()
    with stepped(session, spec, tmp_path / "run.kvrec", gate) as results:
        gate.run(until=5)
        while gate.held != 6:
            pass
        gate.stop()
    assert results[0][0].status == "stopped"
    assert snapshot(session.tts) == before


def test_several_faults_on_one_name(session: Session, tmp_path: Path) -> None:
    before = snapshot(session.tts)
    # Keys and values that are swapped twice are where they belong.
    twice = plant(session, tmp_path, "swapped-kv@3", "swapped-kv@3")
    assert snapshot(session.tts) == before
    healthy = plant(session, tmp_path)
    assert (twice.latents, twice.left) == (healthy.latents, healthy.left)
    once = plant(session, tmp_path, "swapped-kv@3")
    assert once.latents != healthy.latents


def test_the_damaged_voice_is_not_kept(session: Session, tmp_path: Path) -> None:
    assert session.voice is not None
    voice, state = session.voice, raw_state(session.voice.state)
    damaged = plant(session, tmp_path, "voice-zeroed@0")
    assert session.voice is voice
    assert raw_state(voice.state) == state
    assert damaged.latents != plant(session, tmp_path).latents


def test_a_recording_repeats_its_edits(session: Session, tmp_path: Path) -> None:
    first = plant(session, tmp_path, "foreign-voice@0", "poke-zero@5", "second-thread@7")
    with Recording.open(first.path) as recording:
        spec = recording.spec
    path = tmp_path / "again.kvrec"
    observed(session, spec, path)
    with Recording.open(first.path) as one, Recording.open(path) as other:
        assert one.audio().tobytes() == other.audio().tobytes()
        assert len(one.frames) == len(other.frames)


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_an_int8_model(tmp_path: Path) -> None:
    session = session_with(ModelSource(quantize=True), "low")
    healthy = plant(session, tmp_path)
    for edit in ("foreign-voice@0", "overflow@5", "lost-write:layer=1@5", "wrong-dtype@5"):
        before = snapshot(session.tts)
        faulty = plant(session, tmp_path, edit)
        assert faulty.everything != healthy.everything
        assert snapshot(session.tts) == before
    assert plant(session, tmp_path).everything == healthy.everything


def test_a_grouped_model(tiny_grouped_config: Path, demo_voice: Path, tmp_path: Path) -> None:
    source = ModelSource("config", str(tiny_grouped_config))
    session = session_with(source, str(demo_voice))
    healthy = plant(session, tmp_path, model=source, voice=str(demo_voice))
    for edit in ("foreign-voice@0", "swapped-kv@5", "frozen-slot@5", "stale-tail@0"):
        faulty = plant(session, tmp_path, edit, model=source, voice=str(demo_voice))
        assert faulty.everything != healthy.everything
        assert faulty.outcome.status == "finished"


def test_random_numbers_of_the_run_are_left_alone(session: Session, tmp_path: Path) -> None:
    """What a fault draws for itself does not shift the noise of later frames."""

    def noise(*edits: str) -> list[bytes]:
        ran = plant(session, tmp_path, *edits, temperature=0.7, frames_after_eos=4)
        with closing(sqlite3.connect(ran.path)) as file:
            return [state for (state,) in file.execute("SELECT state FROM rng ORDER BY frame")]

    healthy = noise()
    faulty = noise("poke-voice:kv=V@4", "codec-stale@0", "foreign-voice@0")
    shorter = min(len(healthy), len(faulty))
    assert shorter > 6
    assert healthy[:shorter] == faulty[:shorter]
