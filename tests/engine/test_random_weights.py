"""The model that is measured speaks, never ends by itself, and leaves nothing on the disk."""

import tempfile
from pathlib import Path

import pytest
import torch

from kvstudio.engine.random_weights import random_model


def test_speaks_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tts = random_model("english_2m_2026-10")
    assert not list(tmp_path.glob("kvstudio-*"))
    state = tts.get_state_for_audio_prompt(0.1 * torch.randn(1, 24000))
    audio = torch.cat(list(tts.generate_audio_stream(state, "a b c.")))
    tokens = tts.flow_lm.conditioner.prepare("a b c.").shape[1]
    assert torch.isfinite(audio).all()
    assert len(audio) >= 1920 * tts._estimate_max_gen_len(tokens)
