"""What a tensor of the streaming state holds, read without leaving a trace in it."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kvstudio.recording.rows import Floats

Sums = NDArray[np.int64]
Content = tuple[Any, ...]
INTEGER_OF_SIZE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def checksums(cache: torch.Tensor, slots: int | None = None) -> Sums:
    """A checksum over every bit of the first `slots` slots of `[2, B, T, H, D]`, `[2 * B, slots]`.

    Slots that differ in one number, or hold the same numbers in another order, differ in it,
    whatever the numbers are: it is a sum of their bits as integers, each times an odd constant.
    """
    rows, capacity = 2 * cache.shape[1], cache.shape[2]
    slots = capacity if slots is None else min(slots, capacity)
    if cache.device.type == "meta" or cache.numel() == 0:
        return np.zeros((rows, slots), np.int64)
    whole = cache.detach().cpu().contiguous()
    bits = whole.view(INTEGER_OF_SIZE[whole.element_size()]).numpy().reshape(rows, capacity, -1)
    words = bits.view(np.int64) if bits[0, 0].nbytes % 8 == 0 else bits.astype(np.int64)
    sums: Sums = np.einsum("rsi,i->rs", words[:, :slots], _weights(words.shape[2]))
    return sums


def padded(old: Sums, new: Sums) -> Sums:
    """The old checksums in the new capacity; new slots count as unwritten whatever they hold."""
    result: Sums = new.copy()
    if old.shape[0] == new.shape[0]:
        slots = min(old.shape[1], new.shape[1])
        result[:, :slots] = old[:, :slots]
    return result


def content(tensor: torch.Tensor) -> Content:
    """All that makes a tensor what it is, but where it lies; bit for bit, so that NaN is NaN."""
    return tensor.shape, tensor.dtype, tensor.device, raw_bytes(tensor)


def nan_slots(cache: torch.Tensor) -> NDArray[np.bool_]:
    """Which slots of `[2, B, T, H, D]` hold a NaN in K or V, `[T]`."""
    if cache.device.type == "meta" or not cache.is_floating_point():
        return np.zeros(cache.shape[2], bool)
    found: NDArray[np.bool_] = torch.isnan(cache.detach()).any(4).any(3).any(1).any(0).cpu().numpy()
    return found


def slot_values(cache: torch.Tensor, first: int, last: int) -> Floats | None:
    """K and V of some slots, `[2, B, last - first, H, D]`, copied; None on `meta`."""
    if cache.device.type == "meta":
        return None
    part = cache.detach()[:, :, first:last]
    values: Floats = part.to("cpu", torch.float32, copy=True).numpy()
    return values


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The tensor's content bit for bit, so that NaN equals NaN."""
    if tensor.device.type == "meta" or tensor.numel() == 0:
        return b""
    here = tensor.detach().cpu()
    try:
        return here.numpy().tobytes()
    except TypeError:  # numpy has no such type, such as bfloat16
        return here.contiguous().view(INTEGER_OF_SIZE[here.element_size()]).numpy().tobytes()


def summary(tensor: torch.Tensor) -> str:
    """The number itself, or the range of the finite ones."""
    if tensor.device.type == "meta" or tensor.numel() == 0:
        return ""
    array = tensor.detach().cpu().to(torch.float64).numpy()
    if array.size == 1:
        return str(tensor.detach().reshape(-1)[0].item())
    finite = array[np.isfinite(array)]
    return f"{finite.min():.4g} .. {finite.max():.4g}" if finite.size else "nothing finite"


def nan_count(tensor: torch.Tensor) -> int:
    if tensor.device.type == "meta" or not tensor.is_floating_point():
        return 0
    return int(torch.isnan(tensor.detach()).sum())


@lru_cache(maxsize=8)
def _weights(count: int) -> Sums:
    # Odd, so that no change of a single word is lost; random, so that no pattern of changes is.
    return np.random.default_rng(0).integers(-(2**62), 2**62, count) * 2 + 1
