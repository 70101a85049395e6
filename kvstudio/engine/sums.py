"""Whether numbers are finite, NaN or infinite, told from the sums of tensors."""

from collections.abc import Iterable, Sequence

import torch

FINITE, NAN, INF = 0, 1, 2
HALF, WIDE = torch.float16, torch.float32


def total(tensor: torch.Tensor) -> torch.Tensor:
    """The sum of a tensor, in a type that holds it while all numbers are finite."""
    return tensor.sum(dtype=WIDE) if tensor.dtype is HALF else tensor.sum()


def sum_flags(sums: Sequence[torch.Tensor]) -> list[int]:
    """For each sum: finite, NaN or Inf; one look at all of them, closer only if one fails."""
    if not sums:
        return []
    flags = [FINITE] * len(sums)
    kinds: dict[tuple[torch.dtype, torch.device], list[int]] = {}
    for index, each in enumerate(sums):
        kinds.setdefault((each.dtype, each.device), []).append(index)
    for (_, device), indices in kinds.items():
        if device.type == "meta":
            continue
        with torch.no_grad():
            together = torch.stack([sums[index] for index in indices])
            if bool(torch.isfinite(together).all()):
                continue
            nan, inf = torch.isnan(together).tolist(), torch.isinf(together).tolist()
        for index, is_nan, is_inf in zip(indices, nan, inf, strict=True):
            flags[index] = NAN if is_nan else INF if is_inf else FINITE
    return flags


def worst(flags: Iterable[int]) -> int:
    found = FINITE
    for flag in flags:
        if flag == NAN:
            return NAN
        found = found or flag
    return found
