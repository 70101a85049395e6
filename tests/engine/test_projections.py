"""Whether K and V of a slot can have been made by the layer's own weights."""

import numpy as np
import pytest

from kvstudio.engine import pocket
from kvstudio.engine.projections import Projections, is_narrow, projections_of
from kvstudio.recording.rows import Floats
from kvstudio.recording.spec import ModelSource
from tests.engine.running import session_with

pytestmark = [
    pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor"),
]
LAYER = "transformer.layers.2.self_attn"


@pytest.fixture(scope="module", params=[False, True], ids=["float", "int8"])
def voiced(request: pytest.FixtureRequest) -> tuple[pocket.TTS, Floats]:
    """A model, and what a voice state of it holds in one layer, `[2, 1, T, H, D]`."""
    session = session_with(ModelSource(quantize=request.param), "low")
    assert session.tts is not None
    assert session.voice is not None
    content: Floats = session.voice.state[LAYER]["cache"].numpy()
    return session.tts, content


def test_a_state_of_the_model_fits(voiced: tuple[pocket.TTS, Floats]) -> None:
    tts, content = voiced
    assert Projections(tts).strangers(LAYER, content, 0) == []
    halves = content.astype(np.float16).astype(np.float32)
    assert Projections(tts).strangers(LAYER, halves, 0) == []


@pytest.mark.parametrize("what", ["swapped", "rotated", "rounded", "foreign"])
def test_what_does_not_fit_is_told_apart(voiced: tuple[pocket.TTS, Floats], what: str) -> None:
    tts, content = voiced
    damaged = content.copy()
    slots = content[:, :, 4:6]
    damaged[:, :, 4:6] = {
        "swapped": slots[::-1],
        "rotated": content[:, :, 7:9],
        "rounded": np.round(slots / 0.05) * 0.05,
        "foreign": np.random.default_rng(0).normal(size=slots.shape),
    }[what]
    assert Projections(tts).strangers(LAYER, damaged, 0) == [(what, (4, 6))]


def test_one_head_of_one_slot_is_enough(voiced: tuple[pocket.TTS, Floats]) -> None:
    tts, content = voiced
    damaged = content.copy()
    damaged[1, :, 4, 0] = 0.0
    assert Projections(tts).strangers(LAYER, damaged, 0) == [("foreign", (4, 5))]


def test_slots_are_counted_from_the_first_one(voiced: tuple[pocket.TTS, Floats]) -> None:
    tts, content = voiced
    assert Projections(tts).strangers(LAYER, content[:, :, 5:], 5) == []
    assert Projections(tts).strangers(LAYER, content[:, :, 5:], 4)[0][0] == "rotated"


def test_nan_and_unknown_layers_are_left_to_others(voiced: tuple[pocket.TTS, Floats]) -> None:
    tts, content = voiced
    assert Projections(tts).strangers(LAYER, content * np.float32("nan"), 0) == []
    assert Projections(tts).strangers("decoder", content, 0) == []


@pytest.mark.parametrize("bits", [0xFFFF0000, 0xFFFFE000], ids=["bfloat16", "float16"])
def test_numbers_of_half_precision_are_narrow(voiced: tuple[pocket.TTS, Floats], bits: int) -> None:
    _, content = voiced
    narrow = (content.view(np.uint32) & np.uint32(bits)).view(np.float32)
    assert is_narrow(narrow[np.abs(narrow) > 1e-3])
    assert not is_narrow(content)


def test_they_are_worked_out_once_for_a_models_weights(voiced: tuple[pocket.TTS, Floats]) -> None:
    tts, _ = voiced
    assert projections_of(tts) is projections_of(tts)
