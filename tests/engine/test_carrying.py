"""Convolutions of the codec that lose between two frames what they are to carry on."""
# ruff: noqa: ANN401 -- what the model is called with and returns is passed through

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pocket_tts.modules.conv import StreamingConv1d, StreamingConvTranspose1d

import kvstudio
from kvstudio.analysis.report import Report
from kvstudio.engine.wrapping import wrapped
from tests.engine.scripts import demo_model, say, voice


@pytest.fixture(scope="module")
def tts() -> Any:
    return demo_model()


def convolution(tts: Any, kind: Any, number: int) -> tuple[str, Any]:
    """One that carries something, of the decoder, with its name in Mimi's state."""
    carrying = [
        (name, module)
        for name, module in tts.mimi.named_modules()
        if isinstance(module, kind)
        and name.startswith(("decoder.", "upsample."))
        and any(t.numel() for k, t in module.init_state(1, 1).items() if k != "first")
    ]
    return carrying[number]


def report_of(tts: Any, path: Path, module: Any, forward: Callable[..., Any]) -> Report:
    state = voice(tts)
    with wrapped(module, "forward", forward), kvstudio.record(tts, path):
        say(tts, state)
    return kvstudio.check(path)


@pytest.mark.parametrize("number", [0, 2, -1])
def test_what_a_convolution_held_is_wiped_before_it_is_read(
    tts: Any, tmp_path: Path, number: int
) -> None:
    name, module = convolution(tts, StreamingConv1d, number)

    def forward(original: Any, x: Any, model_state: Any) -> Any:
        module.get_state(model_state)["previous"].zero_()
        return original(x, model_state)

    (found,) = report_of(tts, tmp_path / "run.kvrec", module, forward).findings
    assert (found.kind, found.frame, found.layer) == ("codec-state-reset", 2, name)
    assert f"{name}.previous" in found.message


@pytest.mark.parametrize("number", [0, -1])
def test_a_tail_that_is_owed_is_not_stored(tts: Any, tmp_path: Path, number: int) -> None:
    name, module = convolution(tts, StreamingConvTranspose1d, number)

    def forward(original: Any, x: Any, mimi_state: Any) -> Any:
        partial = module.get_state(mimi_state)["partial"]
        before = partial.clone()
        result = original(x, mimi_state)
        partial.copy_(before)
        return result

    (found,) = report_of(tts, tmp_path / "run.kvrec", module, forward).findings
    assert (found.kind, found.frame, found.layer) == ("codec-state-stale", 2, name)
    assert f"left {name}.partial as it was" in found.chain[0].text


def test_a_convolution_that_makes_new_state_each_time_is_healthy(tts: Any, tmp_path: Path) -> None:
    """As a fork may write it that avoids writing in place."""
    _, module = convolution(tts, StreamingConv1d, 0)

    def forward(original: Any, x: Any, model_state: Any) -> Any:
        entry = module.get_state(model_state)
        entry["previous"] = entry["previous"].clone()
        return original(x, model_state)

    assert report_of(tts, tmp_path / "run.kvrec", module, forward).verdict == "clean"
