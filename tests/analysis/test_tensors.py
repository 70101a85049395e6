"""Which tensors of the state disagree with their layers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvstudio.analysis.tensors import mismatches
from kvstudio.recording.rows import Cache, TensorState

CACHES = [
    Cache(n, "flow_lm", f"layers.{n}", n, 1, 2, 8, None, "bfloat16", "cuda:0") for n in range(3)
]


def tensor(entry: str, key: str, dtype: str = "bfloat16", device: str = "cuda:0") -> TensorState:
    return TensorState("flow_lm", entry, key, "[1]", dtype, device, 0, "", 0)


def state() -> list[TensorState]:
    return [
        each
        for cache in CACHES
        for each in (tensor(cache.name, "cache"), tensor(cache.name, "offset", "int64"))
    ]


def test_a_state_that_fits_has_none() -> None:
    assert mismatches(CACHES, state()) == []
    assert mismatches(CACHES, []) == []


@pytest.mark.parametrize(
    ("what", "value", "words"),
    [
        ("dtype", "float32", "layers.1.cache is float32, but its layer computes in bfloat16"),
        ("device", "cpu", "layers.1.cache is on cpu, but its layer's weights are on cuda:0"),
    ],
)
def test_a_cache_is_held_against_its_weights(what: str, value: str, words: str) -> None:
    tensors = state()
    tensors[2] = replace(tensors[2], **{what: value})  # type: ignore[arg-type]
    (found,) = mismatches(CACHES, tensors)
    assert (found.name, found.cache, found.what) == ("layers.1.cache", 1, what)
    assert (found.found, found.words) == (value, words)


def test_dtype_and_device_may_both_disagree() -> None:
    tensors = [tensor("layers.0", "cache", "float32", "cpu")]
    assert [each.what for each in mismatches(CACHES, tensors)] == ["dtype", "device"]


def test_any_other_tensor_is_held_against_the_device_of_most() -> None:
    tensors = [*state(), tensor("layers.1", "pad", "int64", "cpu")]
    (found,) = mismatches(CACHES, tensors)
    assert found.cache is None
    assert found.words == ("layers.1.pad is on cpu, but most of the flow_lm state is on cuda:0")


def test_each_model_has_a_device_of_its_own() -> None:
    mimi = [replace(each, model="mimi", device="cpu") for each in state()]
    assert mismatches(CACHES, state() + mimi) == []


@given(st.lists(st.tuples(st.sampled_from(["cache", "pad"]), st.sampled_from("ab")), max_size=12))
def test_every_tensor_off_the_usual_device_is_found_and_no_other(
    kinds: list[tuple[str, str]],
) -> None:
    caches = [replace(CACHES[0], weight_device="a", weight_dtype="x")]
    tensors = [tensor("layers.0", key, "x", device) for key, device in kinds]
    devices = [each.device for each in tensors]
    found = mismatches(caches, tensors)
    off = [t for t in tensors if t.device != "a"]
    pads = [t for t in tensors if t.key == "pad"]
    if devices.count("a") > devices.count("b"):
        assert [(m.entry, m.key) for m in found] == [(t.entry, t.key) for t in off]
    else:
        caught = sum(m.key == "pad" for m in found)
        assert caught in (sum(t.device == "a" for t in pads), sum(t.device == "b" for t in pads))
