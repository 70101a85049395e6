"""What a chunk begins with is held against what the model's own weights make of a prefix."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts import export_model_state

from kvstudio.engine.prefix import prefix_of
from kvstudio.engine.projections import projections_of
from kvstudio.engine.session import Session
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.paths import resources
from kvstudio.recording.evidence import Prefix
from kvstudio.recording.spec import ModelSource, RunSpec, TraceLevel
from tests import kept, models
from tests.engine.editing import At, run_edited
from tests.engine.running import session_with, setting

SPEC = RunSpec(text="Yes.", eos_threshold=-1e9, frames_after_eos=0)
CHUNKS = "The cat sat down. The dog ran off."
VOICE = resources() / "demo" / "voices" / "low.wav"


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(scope="module")
def tts(demo: Session) -> Any:  # noqa: ANN401
    return demo.tts


@pytest.fixture
def prefix(demo: Session, tmp_path: Path) -> Callable[..., Prefix]:
    """The prefix that a chunk with this voice state is said to have."""

    def run(voice: ModelState | None = None, session: Session | None = None) -> Prefix:
        path = tmp_path / "run.kvrec"
        path.unlink(missing_ok=True)
        with run_edited(session or demo, SPEC, path, voice=voice) as recording:
            (found,) = recording.evidence.prefixes().values()
            return found

    return run


def slots(state: ModelState) -> int:
    return offset_of(next(iter(state.values()))) or 0


# ---- healthy voices ------------------------------------------------------------------------------


def assert_healthy(found: Prefix, session: Session) -> None:
    assert session.voice is not None
    assert found.marker_wanted
    assert found.marker_slot == 0
    assert found.foreign_slots == 0
    assert found.voice_slots == slots(session.voice.state) > 10


@pytest.mark.parametrize("voice", ["low", "high"])
def test_a_voice_from_a_file(demo: Session, prefix: Callable[..., Prefix], voice: str) -> None:
    demo.make_voice(voice)
    assert_healthy(prefix(), demo)


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantised_models_and_states_of_either(
    demo: Session, prefix: Callable[..., Prefix], tmp_path: Path
) -> None:
    session = session_with(ModelSource(quantize=True), "low")
    assert demo.voice is not None
    assert session.voice is not None
    assert_healthy(prefix(session=session), session)
    assert_healthy(prefix(session.voice.state), session)
    export_model_state(demo.voice.state, tmp_path / "voice.safetensors")
    session.make_voice(str(tmp_path / "voice.safetensors"))
    assert_healthy(prefix(session=session), session)


def test_a_state_in_half_precision(demo: Session, prefix: Callable[..., Prefix]) -> None:
    assert demo.voice is not None
    state = copy.deepcopy(demo.voice.state)
    for tensors in state.values():
        tensors["cache"].copy_(tensors["cache"].bfloat16())
    assert_healthy(prefix(state), demo)


def test_grouped_queries(tiny_grouped_config: Path, prefix: Callable[..., Prefix]) -> None:
    voice = str(tiny_grouped_config.with_name("voice.safetensors"))
    session = session_with(ModelSource("config", str(tiny_grouped_config)), voice)
    found = prefix(session=session)
    assert (found.marker_wanted, found.marker_slot) == (True, 0)
    assert found.foreign_slots is None  # K and V of one head can be anything


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("config", ["english_config", "english_24l_config", "english_2m_config"])
@pytest.mark.parametrize("own", [True, False], ids=["from a file", "a state"])
def test_full_size(
    request: pytest.FixtureRequest, prefix: Callable[..., Prefix], config: str, own: bool
) -> None:
    path: Path = request.getfixturevalue(config)
    voice = str(VOICE if own else path.with_name("voice.safetensors"))
    session = session_with(ModelSource("config", str(path)), voice)
    assert_healthy(prefix(session=session), session)


@pytest.mark.parametrize("copy_state", [True, False], ids=["copied", "in place"])
@pytest.mark.parametrize("trace", ["full", "cache", "off"])
def test_which_chunks_are_told(
    demo: Session, tmp_path: Path, copy_state: bool, trace: TraceLevel
) -> None:
    spec = RunSpec(
        text=CHUNKS,
        max_tokens=20,
        eos_threshold=-1e9,
        frames_after_eos=0,
        copy_state=copy_state,
        trace=trace,
    )
    with run_edited(demo, spec, tmp_path / "run.kvrec") as recording:
        assert len(recording.chunks) == 2
        told = [chunk.id for chunk in recording.chunks if chunk.continues is None]
        assert list(recording.evidence.prefixes()) == ([] if trace == "off" else told)


# ---- other prefixes ------------------------------------------------------------------------------


def test_no_marker(tts: Any, prefix: Callable[..., Prefix]) -> None:  # noqa: ANN401
    with setting(tts.flow_lm, "insert_bos_before_voice", False):
        state = tts.get_state_for_audio_prompt(VOICE)
    found = prefix(state)
    assert (found.marker_wanted, found.marker_slot, found.foreign_slots) == (True, None, 0)
    assert found.voice_slots == slots(state)


@pytest.mark.parametrize("place", [-1, 4], ids=["at the end", "in the middle"])
def test_a_marker_in_the_wrong_place(
    tts: Any,  # noqa: ANN401
    prefix: Callable[..., Prefix],
    monkeypatch: pytest.MonkeyPatch,
    place: int,
) -> None:
    encode = tts._encode_audio

    def misplaced(audio: torch.Tensor) -> torch.Tensor:
        voice = encode(audio)
        parts = [voice[:, :place], tts.flow_lm.bos_before_voice, voice[:, place:]]
        return torch.cat(parts, dim=1)

    monkeypatch.setattr(tts, "_encode_audio", misplaced)
    with setting(tts.flow_lm, "insert_bos_before_voice", False):
        state = tts.get_state_for_audio_prompt(VOICE)
    found = prefix(state)
    assert found.marker_slot == (place if place > 0 else found.voice_slots + place - 1)
    assert found.foreign_slots == 0


def test_a_marker_fed_twice(
    tts: Any,  # noqa: ANN401
    prefix: Callable[..., Prefix],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encode = tts._encode_audio
    monkeypatch.setattr(
        tts,
        "_encode_audio",
        lambda audio: torch.cat([tts.flow_lm.bos_before_voice, encode(audio)], dim=1),
    )
    assert prefix(tts.get_state_for_audio_prompt(VOICE)).marker_slot == 1


def test_zeros_for_a_marker(tts: Any, prefix: Callable[..., Prefix]) -> None:  # noqa: ANN401
    """Also while the model still holds the zeros."""
    zeros = torch.nn.Parameter(torch.zeros_like(tts.flow_lm.bos_before_voice))
    with setting(tts.flow_lm, "bos_before_voice", zeros), torch.no_grad():
        state = tts.get_state_for_audio_prompt(VOICE)
        assert prefix(state).marker_slot is None
    found = prefix(state)
    assert (found.marker_wanted, found.marker_slot, found.foreign_slots) == (True, None, 0)


def test_a_voice_of_other_weights(prefix: Callable[..., Prefix]) -> None:
    configs = [kept.model(models.TINY, seed=seed) for seed in (0, 1)]
    voices = [str(config.with_name("voice.safetensors")) for config in configs]
    session = session_with(ModelSource("config", str(configs[0])), voices[0])
    assert_healthy(prefix(session=session), session)
    session.make_voice(voices[1])
    found = prefix(session=session)
    assert (found.marker_slot, found.foreign_slots) == (None, found.voice_slots)


@pytest.mark.parametrize("layer", [0, 5])
def test_one_layer_of_other_weights(
    demo: Session, prefix: Callable[..., Prefix], layer: int
) -> None:
    assert demo.voice is not None
    state = copy.deepcopy(demo.voice.state)
    cache = state[f"transformer.layers.{layer}.self_attn"]["cache"]
    cache[:, :, 1:] = torch.randn(cache[:, :, 1:].shape, generator=torch.Generator().manual_seed(0))
    found = prefix(state)
    assert (found.marker_slot, found.foreign_slots) == (0, found.voice_slots - 1)


def _nan(cache: torch.Tensor) -> None:
    cache[:, :, 5] = float("nan")


def _zero(cache: torch.Tensor) -> None:
    cache[:, :, 5:9] = 0


def _copied(cache: torch.Tensor) -> None:
    cache[:, :, 5] = cache[:, :, 9].clone()


def _swapped(cache: torch.Tensor) -> None:
    cache.copy_(cache.flip(0))


@pytest.mark.parametrize("change", [_nan, _zero, _copied, _swapped])
def test_what_is_wrong_in_other_ways_is_not_foreign(
    demo: Session, tmp_path: Path, change: Callable[[torch.Tensor], None]
) -> None:
    edits = At(1, lambda moment: change(moment.state["transformer.layers.1.self_attn"]["cache"]))
    with run_edited(demo, SPEC, tmp_path / "run.kvrec", edits) as recording:
        assert recording.evidence.prefixes()[0].foreign_slots == 0


def test_looking_disturbs_nothing(demo: Session, tts: Any) -> None:  # noqa: ANN401
    """No number is drawn and no hook or wrapper of the user's is called."""
    assert demo.voice is not None
    projections = projections_of(tts)
    calls: list[object] = []
    hooks = [
        module.register_forward_hook(lambda *heard: calls.append(heard))
        for module in tts.flow_lm.modules()
    ]
    before = torch.get_rng_state()
    try:
        assert prefix_of(tts, 0, demo.voice.state, projections) is not None
    finally:
        for hook in hooks:
            hook.remove()
    assert calls == []
    assert torch.equal(torch.get_rng_state(), before)


def test_a_state_of_another_shape_is_the_model_s_to_refuse(demo: Session, tts: Any) -> None:  # noqa: ANN401
    assert demo.voice is not None
    state = {
        name: {**tensors, "cache": tensors["cache"][..., ::2]}
        for name, tensors in demo.voice.state.items()
    }
    found = prefix_of(tts, 0, state, projections_of(tts))
    assert found is not None
    assert (found.marker_slot, found.foreign_slots) == (None, None)
