"""Whether numbers are finite, NaN or infinite, told from the sums of tensors."""

from collections.abc import Iterable, Sequence

import torch

FINITE, NAN, INF = 0, 1, 2


def sum_flags(sums: Sequence[torch.Tensor]) -> list[int]:
    """For each sum: finite, NaN or Inf; one look at all of them, closer only if one fails."""
    if not sums:
        return []
    with torch.no_grad():
        together = torch.stack([_as_double(each) for each in sums])
        if bool(torch.isfinite(together).all()):
            return [FINITE] * len(sums)
        nan, inf = torch.isnan(together).tolist(), torch.isinf(together).tolist()
    return [NAN if n else INF if i else FINITE for n, i in zip(nan, inf, strict=True)]


def worst(flags: Iterable[int]) -> int:
    known = set(flags)
    return NAN if NAN in known else INF if INF in known else FINITE


def _as_double(number: torch.Tensor) -> torch.Tensor:
    if number.device.type == "meta":
        return torch.zeros((), dtype=torch.float64)
    return number.detach().to("cpu", torch.float64)
