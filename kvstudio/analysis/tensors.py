"""Finds tensors of the streaming state that do not fit the layers they serve.

A cache in another dtype than its layer computes in is converted at every step, or raises; a tensor
on another device raises as soon as it is used. Both happen when a saved voice state meets a model
that was moved or converted afterwards.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from kvstudio.recording.rows import Cache, TensorState

CACHE_KEY = "cache"


@dataclass(frozen=True)
class Mismatch:
    """One tensor that disagrees with the weights of its layer, or with the rest of the state.

    Attributes:
        what: which property disagrees.
        cache: id of the KV cache, or None for another tensor.
        words: the whole of it as a sentence.
    """

    model: str
    entry: str
    key: str
    what: Literal["dtype", "device"]
    found: str
    expected: str
    cache: int | None
    words: str

    @property
    def name(self) -> str:
        return f"{self.entry}.{self.key}"


def cache_of(caches: Iterable[Cache]) -> dict[tuple[str, str, str], Cache]:
    """The KV cache that a tensor is, by the tensor's (model, entry, key)."""
    return {(cache.model, cache.name, CACHE_KEY): cache for cache in caches}


def mismatches(caches: Sequence[Cache], tensors: Sequence[TensorState]) -> list[Mismatch]:
    """Every disagreement, in the order of the tensors.

    A KV cache must have the dtype and the device of its layer's weights. Any other tensor must be
    on the device that most of its model's state is on; its dtype is its own business.
    """
    known = cache_of(caches)
    usual = {model: _usual_device(tensors, model) for model in {t.model for t in tensors}}
    found: list[Mismatch] = []
    for tensor in tensors:
        cache = known.get((tensor.model, tensor.entry, tensor.key))
        if cache is None:
            found += _against_state(tensor, usual[tensor.model])
        else:
            found += _against_weights(tensor, cache)
    return found


def _against_weights(tensor: TensorState, cache: Cache) -> list[Mismatch]:
    found = []
    if tensor.dtype != cache.weight_dtype:
        words = (
            f"{tensor.entry}.{tensor.key} is {tensor.dtype}, "
            f"but its layer computes in {cache.weight_dtype}"
        )
        found.append(_mismatch(tensor, "dtype", tensor.dtype, cache.weight_dtype, cache, words))
    if tensor.device != cache.weight_device:
        words = (
            f"{tensor.entry}.{tensor.key} is on {tensor.device}, "
            f"but its layer's weights are on {cache.weight_device}"
        )
        found.append(_mismatch(tensor, "device", tensor.device, cache.weight_device, cache, words))
    return found


def _against_state(tensor: TensorState, device: str) -> list[Mismatch]:
    if tensor.device == device:
        return []
    words = (
        f"{tensor.entry}.{tensor.key} is on {tensor.device}, "
        f"but most of the {tensor.model} state is on {device}"
    )
    return [_mismatch(tensor, "device", tensor.device, device, None, words)]


def _mismatch(
    tensor: TensorState,
    what: Literal["dtype", "device"],
    found: str,
    expected: str,
    cache: Cache | None,
    words: str,
) -> Mismatch:
    number = None if cache is None else cache.id
    return Mismatch(tensor.model, tensor.entry, tensor.key, what, found, expected, number, words)


def _usual_device(tensors: Sequence[TensorState], model: str) -> str:
    devices = Counter(tensor.device for tensor in tensors if tensor.model == model)
    return devices.most_common(1)[0][0]
