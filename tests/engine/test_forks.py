"""Forks that keep their cache in another way than pocket-tts does, and do it right, are clean."""
# ruff: noqa: ANN401 -- a model of any release

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pocket_tts.modules.attention as attention
import pytest
import torch
from pocket_tts import TTSModel
from torch.nn import functional

import kvstudio
from kvstudio.analysis.report import Report
from tests.engine.scripts import demo_model, say, voice

Backend = attention._LinearKVCacheBackend
Append = Callable[..., tuple[torch.Tensor, ...]]


def recorded(path: Path, *, says: int = 1, **how: Any) -> Report:
    tts = demo_model()
    with kvstudio.record(tts, path):
        state = voice(tts)
        for _ in range(says):
            say(tts, state, "Hi all.", **how)
    return kvstudio.check(path)


def found(report: Report) -> list[str]:
    return [f"{each.kind}: {each.message}" for each in report.findings]


def position(state: Any) -> int:
    return int(state["offset"].view(-1)[0])


def handed(keys: torch.Tensor, values: torch.Tensor, state: Any) -> tuple[torch.Tensor, ...]:
    """What `append_and_get` gives."""
    places = torch.arange(keys.shape[1]).view(1, -1)
    return keys.permute(0, 2, 1, 3), values.permute(0, 2, 1, 3), places, state["offset"]


def joined(original: Append) -> Append:
    """The cache is as long as what is in it."""

    def append(self: Any, k: torch.Tensor, v: torch.Tensor, state: Any) -> Any:
        if state is None:
            return original(self, k, v, state)
        old = state["cache"][:, :, : position(state)]
        state["cache"] = torch.cat([old, torch.stack([k, v])], dim=2)
        return handed(state["cache"][0], state["cache"][1], state)

    return append


def doubled(original: Append) -> Append:
    """The cache is made twice as long when it is full."""

    def append(self: Any, k: torch.Tensor, v: torch.Tensor, state: Any) -> Any:
        if state is not None:
            old, needed = state["cache"], position(state) + k.shape[1]
            if needed > old.shape[2]:
                sizes = (*old.shape[:2], 2 * needed, *old.shape[3:])
                state["cache"] = torch.full(sizes, float("nan"))
                state["cache"][:, :, : old.shape[2]] = old
        return original(self, k, v, state)

    return append


@pytest.mark.parametrize("grown", [joined, doubled])
def test_a_cache_that_grows_as_it_goes(
    grown: Callable[[Append], Append], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TTSModel, "_expand_kv_cache", lambda self, state, sequence_length: None)
    monkeypatch.setattr(Backend, "append_and_get", grown(Backend.append_and_get))
    report = recorded(tmp_path / "run.kvrec")
    assert (found(report), report.verdict) == ([], "clean")


def test_reading_all_slots_and_leaving_out_the_unwritten_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Backend.append_and_get

    def append(self: Any, k: torch.Tensor, v: torch.Tensor, state: Any) -> Any:
        result = original(self, k, v, state)
        if state is None:
            return result
        slots = torch.arange(state["cache"].shape[2]).view(1, 1, -1, 1, 1)
        cache = torch.where(slots < position(state) + k.shape[1], state["cache"], torch.zeros(()))
        return handed(cache[0], cache[1], state)

    monkeypatch.setattr(Backend, "append_and_get", append)
    assert found(recorded(tmp_path / "run.kvrec")) == []


def test_writing_with_a_foreach_op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def complete(cache: Any, offset: Any, k: torch.Tensor, v: torch.Tensor) -> Any:
        first, count = int(offset.view(-1)[0]), k.shape[1]
        halves = cache.unbind(0)
        torch._foreach_copy_([half.narrow(1, first, count) for half in halves], [k, v])
        return [half.narrow(1, 0, first + count) for half in halves]

    monkeypatch.setattr(attention, "complete_kv", complete)
    assert found(recorded(tmp_path / "run.kvrec")) == []


def test_a_hook_that_asks_whether_the_cache_is_finite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, seen = Backend.append_and_get, []

    def append(self: Any, k: torch.Tensor, v: torch.Tensor, state: Any) -> Any:
        result = original(self, k, v, state)
        if state is not None:
            seen.append(int(torch.isfinite(state["cache"]).sum()))
        return result

    monkeypatch.setattr(Backend, "append_and_get", append)
    assert found(recorded(tmp_path / "run.kvrec")) == []
    assert max(seen) > 0


def test_a_codec_whose_cache_is_a_ring(tmp_path: Path) -> None:
    tts, path = demo_model(), tmp_path / "run.kvrec"
    for layer in tts.mimi.decoder_transformer.transformer.layers:
        _make_ring(layer.self_attn)
    with kvstudio.record(tts, path):
        say(tts, voice(tts))
    report = kvstudio.check(path)
    assert (found(report), report.verdict) == ([], "clean")


def _make_ring(module: Any) -> None:
    backend, size = module._cache_backend, module.context + 16
    made = backend.init_state

    def append(k: torch.Tensor, v: torch.Tensor, state: Any) -> Any:
        if state is None:
            return Backend.append_and_get(backend, k, v, state)
        first, count = position(state), k.shape[1]
        slots = torch.arange(first, first + count) % size
        for half, new in zip(state["cache"], (k, v), strict=True):
            half.index_copy_(1, slots, new)
        used = min(size, first + count)
        newest = first + count - 1
        old = state["cache"][:, :, :used]
        places = newest - (newest - torch.arange(used)) % size
        keys, values, _, offset = handed(old[0], old[1], state)
        return keys, values, places.view(1, -1), offset

    backend.init_state = lambda batch, sequence_length, *how: made(batch, size, *how)
    backend.append_and_get = append


def test_a_state_that_is_set_back_to_its_voice(tmp_path: Path) -> None:
    tts, path = demo_model(), tmp_path / "run.kvrec"
    with kvstudio.record(tts, path):
        state = voice(tts)
        end = tts._flow_lm_current_end(state)
        for _ in range(2):
            say(tts, state, "Hi all.", copy_state=False)
            for entry in state.values():
                entry["offset"].fill_(end)
    report = kvstudio.check(path)
    assert (found(report), report.verdict) == ([], "clean")


def test_caches_in_one_storage_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = TTSModel._expand_kv_cache

    def expand(self: Any, state: Any, sequence_length: int) -> None:
        original(self, state, sequence_length)
        whole = torch.stack([entry["cache"] for entry in state.values()])
        for entry, cache in zip(state.values(), whole, strict=True):
            entry["cache"] = cache

    monkeypatch.setattr(TTSModel, "_expand_kv_cache", expand)
    report = recorded(tmp_path / "run.kvrec")
    assert (found(report), report.verdict) == ([], "not verified")


def test_a_model_under_autocast_is_recorded_to_its_end(tmp_path: Path) -> None:
    with torch.autocast("cpu", torch.bfloat16):
        report = recorded(tmp_path / "run.kvrec")
    assert report.frames > 2
    assert {each.kind for each in report.findings} == {"dtype-mismatch"}


def test_a_stop_flag_that_is_turned_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tts, path = demo_model(), tmp_path / "run.kvrec"
    original = tts.flow_lm.forward

    def forward(*args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        latent, ends = original(*args, **kwargs)
        return latent, ~ends

    monkeypatch.setattr(tts.flow_lm, "forward", forward)
    with kvstudio.record(tts, path):
        say(tts, voice(tts))
    assert [each.kind for each in kvstudio.check(path).findings] == ["early-eos"]


def test_manual_attention_is_not_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def attend(q: Any, k: Any, v: Any, mask: Any, dropout_p: float = 0.0) -> torch.Tensor:
        weights = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        mixed: torch.Tensor = weights.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        return mixed

    monkeypatch.setattr(functional, "scaled_dot_product_attention", attend)
    report = recorded(tmp_path / "run.kvrec")
    assert (found(report), report.verdict) == ([], "not verified")
