"""Code around a model that does what pocket-tts does in another way: no fault is found in it."""
# ruff: noqa: ANN401 -- a model of any release

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from pocket_tts.modules.attention import _LinearKVCacheBackend as Backend
from pocket_tts.modules.stateful_module import init_states

import kvstudio
from tests.engine.scripts import MIMI_STEPS, demo_model, prefilled, say, steps, voice

APPEND = Backend.append_and_get


@pytest.fixture(scope="module")
def tts() -> Any:
    return demo_model()


def kept_elsewhere(self: Backend, k: Any, v: Any, state: Any) -> Any:
    """Appends K and V to tensors of its own, and leaves the state's `cache` alone."""
    if state is None:  # the encoder hears the whole prompt at once
        return APPEND(self, k, v, state)
    new = torch.stack([k, v])
    kept = state.get("own")
    state["own"] = new if kept is None else torch.cat([kept, new], dim=2)
    keys, values = state["own"].permute(0, 1, 3, 2, 4)
    return keys, values, torch.arange(keys.shape[2]).view(1, -1), state["offset"]


def test_caches_under_another_key_are_not_verified(tts: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.kvrec"
    with patch.object(Backend, "append_and_get", kept_elsewhere), kvstudio.record(tts, path):
        say(tts, voice(tts))
    report = kvstudio.check(path)
    assert (report.verdict, report.findings) == ("not verified", ())
    assert "kept elsewhere than in the state's `cache`" in report.reason


def test_all_latents_decoded_at_once_at_the_end(tts: Any, tmp_path: Path) -> None:
    """Nobody needs to move Mimi's offsets after that."""
    path = tmp_path / "run.kvrec"
    with kvstudio.record(tts, path), torch.no_grad():
        state = prefilled(tts, voice(tts), frames=12)
        latents = torch.cat(list(steps(tts, state, 12)), dim=1)
        codec = init_states(tts.mimi, 1, 12 * MIMI_STEPS)
        tts.mimi.decode_from_latent(latents * tts.flow_lm.emb_std + tts.flow_lm.emb_mean, codec)
    report = kvstudio.check(path)
    assert (report.verdict, report.findings) == ("clean", ())
