"""What users patch is observed, not bypassed, and afterwards is as they left it."""

import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from pocket_tts import TTSModel
from pocket_tts.models import tts_model
from pocket_tts.modules import attention

import kvstudio
from kvstudio.engine.state import ModelState
from kvstudio.recording.reader import Recording
from tests.engine.scripts import demo_model, prefilled, say, steps, untouched, voice


@pytest.fixture(scope="module")
def tts() -> Any:  # noqa: ANN401
    return demo_model()


@pytest.fixture(scope="module")
def low(tts: TTSModel) -> ModelState:
    state: ModelState = voice(tts)
    return state


@pytest.fixture(autouse=True)
def nothing_left(tts: TTSModel) -> Iterator[None]:
    with untouched(tts):
        yield


def run(tts: TTSModel, state: ModelState) -> None:
    torch.manual_seed(1)
    list(steps(tts, prefilled(tts, state, frames=4), 4))


def kinds(path: Path) -> list[str]:
    return [finding.kind for finding in kvstudio.check(path).findings]


def short_expansion(original: Callable[..., None]) -> Callable[..., None]:
    """Room for two frames less than asked for."""

    def expand(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        *before, length = (*args, *kwargs.values())
        original(*before, length - 2)

    return expand


@pytest.mark.parametrize("inside", [False, True], ids=["before", "inside"])
@pytest.mark.parametrize("where", ["class", "instance", "type of the instance"])
def test_expansion(
    tts: TTSModel, low: ModelState, tmp_path: Path, where: str, *, inside: bool
) -> None:
    """However `_expand_kv_cache` is patched, what it does is seen to drop two frames."""

    def patched() -> Any:  # noqa: ANN401
        if where == "instance":
            replaced = short_expansion(tts._expand_kv_cache)
            return mock.patch.object(tts, "_expand_kv_cache", replaced)
        owner = TTSModel if where == "class" else type(tts)
        original = vars(TTSModel)["_expand_kv_cache"]
        return mock.patch.object(owner, "_expand_kv_cache", short_expansion(original))

    path = tmp_path / "run.kvrec"
    if inside:
        with kvstudio.record(tts, path), patched():
            run(tts, low)
    else:
        with patched(), kvstudio.record(tts, path):
            run(tts, low)
    assert "dropped-write" in kinds(path)


@pytest.mark.parametrize("call_ours", [True, False], ids=["on top", "instead"])
def test_a_patch_that_stays(
    tts: TTSModel, low: ModelState, tmp_path: Path, *, call_ours: bool
) -> None:
    """Set inside and left there: it is observed, stays, and then calls nothing of ours."""
    calls = []
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        found = tts._run_flow_lm_and_increment_step

        def mine(self: TTSModel, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            calls.append(1)
            if call_ours:
                return found(*args, **kwargs)
            return TTSModel._run_flow_lm_and_increment_step(self, *args, **kwargs)

        patch = types.MethodType(mine, tts)
        tts._run_flow_lm_and_increment_step = patch
        run(tts, low)
    try:
        assert vars(tts)["_run_flow_lm_and_increment_step"] is patch
        assert len(calls) == 5
        run(tts, low)
        assert len(calls) == 10
    finally:
        del tts._run_flow_lm_and_increment_step
    with Recording.open(path) as recording:
        assert len(recording.frames) == 6
        assert [frame.op_count > 0 for frame in recording.frames] == [False, *[True] * 5]
    assert kvstudio.check(path).verdict == "clean"


def test_functions_of_the_modules(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """`complete_kv` reads one slot too many; nothing but the model's own module is patched."""
    original = attention.complete_kv

    def too_many(
        cache: torch.Tensor, offset: torch.Tensor, k: torch.Tensor, v: torch.Tensor
    ) -> Any:  # noqa: ANN401
        original(cache, offset, k, v)
        end = int(offset.view(-1)[0]) + k.shape[1] + 1
        return cache[0, :, :end], cache[1, :, :end]

    with (
        kvstudio.record(tts, tmp_path / "run.kvrec") as path,
        mock.patch.object(attention, "complete_kv", too_many),
    ):
        run(tts, low)
    findings = kvstudio.check(path).findings
    assert findings[0].kind == "unwritten-read"
    assert findings[0].site is not None


def test_a_backend_that_does_not_count(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    original = attention._LinearKVCacheBackend.increment_step

    def stuck(self: Any, state: ModelState, increment: int) -> None:  # noqa: ANN401
        if increment != 1:
            original(self, state, increment)

    with (
        mock.patch.object(attention._LinearKVCacheBackend, "increment_step", stuck),
        kvstudio.record(tts, tmp_path / "run.kvrec") as path,
    ):
        run(tts, low)
    assert set(kinds(path)) & {"offset-jump", "overwrite"}


def test_increments_that_are_left_out(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """`generate_audio` with a codec that never counts does not wait for it to."""
    original = tts_model.increment_steps

    def not_mimi(module: Any, state: ModelState, increment: int = 1) -> None:  # noqa: ANN401
        if module is not tts.mimi:
            original(module, state, increment)

    with (
        mock.patch.object(tts_model, "increment_steps", not_mimi),
        kvstudio.record(tts, tmp_path / "run.kvrec") as path,
    ):
        say(tts, low)
    assert "codec-step-mismatch" in kinds(path)


def test_another_attention(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """A layer gets a class of the user's while it is being recorded, and keeps it."""
    layer = tts.flow_lm.transformer.layers[2].self_attn
    real = type(layer)

    class Louder(real):  # type: ignore[misc,valid-type]
        def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return 1e30 * super().forward(*args, **kwargs) * 1e30

    try:
        with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
            layer.__class__ = Louder
            run(tts, low)
        assert type(layer) is Louder
    finally:
        layer.__class__ = real
    assert "nan-produced" in kinds(path)
