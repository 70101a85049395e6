"""Whether the numbers of slots are numbers: finite, NaN or Inf."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kvstudio.recording.encoding import blob
from kvstudio.recording.rows import Floats, SlotDelta

FINITE, NAN, INF = 0, 1, 2
DeltaRow = tuple[int, int, int, int, bytes]


def worst_numbers(values: Floats) -> NDArray[np.uint8]:
    """Of slots `[2, B, S, H, D]` the worst number that each holds, `[S]`."""
    worst = np.zeros(values.shape[2], np.uint8)
    if not np.isfinite(values).all():
        worst[np.isinf(values).any(axis=(0, 1, 3, 4))] = INF
        worst[np.isnan(values).any(axis=(0, 1, 3, 4))] = NAN
    return worst


def delta_rows(delta: SlotDelta) -> list[DeltaRow]:
    """(cache, first, last, worst, values): a row for each run of slots that are alike."""
    if delta.values is None or delta.values.shape[2] == 0:
        return [(delta.cache, delta.first, delta.last, FINITE, blob(delta.values))]
    worst = worst_numbers(delta.values)
    starts = [0, *(np.flatnonzero(np.diff(worst)) + 1).tolist(), len(worst)]
    return [
        (
            delta.cache,
            delta.first + begin,
            delta.first + end,
            int(worst[begin]),
            blob(delta.values[:, :, begin:end]),
        )
        for begin, end in pairwise(starts)
    ]
