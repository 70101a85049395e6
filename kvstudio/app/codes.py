"""Cache values as one byte each: the top codes are states, the codes below them are values.

A float image with NaN is slow to paint and paints NaN as if it were a value. A code matrix
goes to the screen through a table of 256 colours, and what is not a number has a code of its own.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kvstudio.app.theme import Palette

    FloatArray = NDArray[np.floating]
    BoolArray = NDArray[np.bool_]
    CodeArray = NDArray[np.uint8]

BLOCK_VALUES = 65_536
"""Values encoded at a time: the scratch block (256 KiB) stays in the processor's own cache."""

SAMPLED_VALUES = 65_536
NARROWEST_RANGE = 1e-30
WIDEST_RANGE = 1e38


class Code(IntEnum):
    """What one byte of a code matrix stands for; `LOWEST` to `HIGHEST` are values in range."""

    BELOW = 0
    LOWEST = 1
    MIDDLE = 125
    HIGHEST = 249
    ABOVE = 250
    MASKED = 251
    NEG_INF = 252
    POS_INF = 253
    NAN = 254
    UNWRITTEN = 255


def encode(
    values: FloatArray,
    written: BoolArray,
    low: float,
    high: float,
    *,
    masked: BoolArray | None = None,
    out: CodeArray | None = None,
) -> CodeArray:
    """Turn values into codes, linear between `low` (`Code.LOWEST`) and `high` (`Code.HIGHEST`).

    What nobody wrote is `UNWRITTEN` whatever its value; a NaN or Inf that was written stays
    visible even where it is masked, for it still leaks into the sum.

    Args:
        values: `[T, ...]`, slots first.
        written: the leading axes of `values`: `[T]`, `[T, H]` or the whole shape.
        low: value of the lowest code.
        high: value of the highest code; must be greater than `low`.
        masked: like `written`; positions that attention may not look at.
        out: uint8, the shape of `values`, written in place.
    """
    _require_range(low, high)
    codes = np.empty(values.shape, np.uint8) if out is None else out
    if values.size == 0:
        return codes
    rows = np.asarray(written.reshape(len(values), -1).any(axis=1))
    codes[~rows] = Code.UNWRITTEN
    with np.errstate(over="ignore", invalid="ignore"):
        for block in _blocks(rows, values[:1].size):
            _encode_block(values[block], low, high, codes[block])
    if masked is not None:
        hidden = _as_leading_axes(masked, values.ndim)
        np.copyto(codes, np.uint8(Code.MASKED), where=hidden & (codes <= Code.ABOVE))
    if written.ndim > 1:
        unwritten = _as_leading_axes(~written, values.ndim)
        np.copyto(codes, np.uint8(Code.UNWRITTEN), where=unwritten)
    return codes


def robust_range(
    values: FloatArray, written: BoolArray | None = None, coverage: float = 0.995
) -> tuple[float, float]:
    """Find a range symmetric about zero that holds `coverage` of the finite values.

    Symmetric, so that the middle of the colour map is zero. Large arrays are sampled; the same
    array always gives the same range.

    Args:
        values: `[T, ...]`.
        written: `[T]`: slots to look at; all of them if absent.
        coverage: share of the finite values that fall inside.
    """
    seen = values if written is None else values[written]
    magnitudes = _finite_magnitudes(_sample(seen))
    if magnitudes.size == 0:
        magnitudes = _finite_magnitudes(seen)
    if magnitudes.size == 0:
        return -1.0, 1.0
    bound = quantile(magnitudes, coverage) or float(magnitudes.max())
    bound = bound if bound > NARROWEST_RANGE else 1.0
    bound = min(bound, WIDEST_RANGE / 2)
    return -bound, bound


def quantile(values: FloatArray, share: float) -> float:
    """As `np.quantile` has it, which imports masked arrays at its first call (50 ms)."""
    place = share * (values.size - 1)
    below, above = int(np.floor(place)), int(np.ceil(place))
    ordered = np.partition(values, (below, above))
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))


def lookup_table(palette: Palette) -> CodeArray:
    """The colour of every code as `[256, 4]` red, green, blue, alpha."""
    table = np.full((256, 4), 255, np.uint8)
    low, zero, high = map(_rgb, (palette.value_low, palette.value_zero, palette.value_high))
    steps = Code.MIDDLE - Code.LOWEST + 1
    table[Code.LOWEST : Code.MIDDLE + 1, :3] = _blend(low, zero, steps)
    table[Code.MIDDLE : Code.HIGHEST + 1, :3] = _blend(zero, high, steps)
    for code, name in {
        Code.BELOW: palette.value_below,
        Code.ABOVE: palette.value_above,
        Code.MASKED: palette.masked,
        Code.NEG_INF: palette.inf,
        Code.POS_INF: palette.inf,
        Code.NAN: palette.nan,
        Code.UNWRITTEN: palette.unwritten,
    }.items():
        table[code, :3] = _rgb(name)
    return table


def _require_range(low: float, high: float) -> None:
    if not NARROWEST_RANGE <= high - low <= WIDEST_RANGE:  # also false for NaN
        raise ValueError(f"a colour range needs two numbers, low < high; got {low!r} and {high!r}")


def _blocks(rows: BoolArray, row_size: int) -> Iterator[slice]:
    """Runs of true rows, cut into pieces of at most `BLOCK_VALUES` values (at least one row)."""
    step = max(1, BLOCK_VALUES // max(1, row_size))
    edges = np.flatnonzero(np.diff(rows, prepend=False, append=False))
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        for start in range(first, end, step):
            yield slice(start, min(start + step, end))


def _encode_block(values: FloatArray, low: float, high: float, codes: CodeArray) -> None:
    scale = np.float32((Code.HIGHEST - Code.LOWEST) / (high - low))
    scaled = np.subtract(values, np.float32(low), dtype=np.float32, casting="same_kind")
    scaled *= scale
    scaled += np.float32(Code.LOWEST + 0.5)  # the cast below cuts off, so this rounds
    np.clip(scaled, Code.BELOW, Code.ABOVE, out=scaled)
    finite = np.isfinite(values)
    if finite.all():
        np.copyto(codes, scaled, casting="unsafe")
        return
    np.copyto(codes, np.where(finite, scaled, 0), casting="unsafe")
    codes[np.isnan(values)] = Code.NAN
    codes[np.isposinf(values)] = Code.POS_INF
    codes[np.isneginf(values)] = Code.NEG_INF


def _as_leading_axes(mask: BoolArray, ndim: int) -> BoolArray:
    return mask.reshape(mask.shape + (1,) * (ndim - mask.ndim))


def _sample(values: FloatArray) -> FloatArray:
    """Random positions, not every n-th: a stride can fall in step with heads and dims."""
    if values.size <= SAMPLED_VALUES:
        return values
    positions = np.random.default_rng(0).integers(0, values.size, SAMPLED_VALUES)
    return values[np.unravel_index(positions, values.shape)]


def _finite_magnitudes(values: FloatArray) -> FloatArray:
    return np.abs(values[np.isfinite(values)])


def _rgb(name: str) -> NDArray[np.float64]:
    """`#rrggbb` as three numbers from 0 to 255."""
    return np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)], np.float64)


def _blend(start: NDArray[np.float64], end: NDArray[np.float64], steps: int) -> CodeArray:
    """`steps` colours from `start` to `end`, evenly spaced to the eye (in Oklab)."""
    share = np.linspace(0.0, 1.0, steps)[:, None]
    lab = _to_oklab(start) * (1 - share) + _to_oklab(end) * share
    light = (lab @ np.linalg.inv(_CONES_TO_LAB).T) ** 3 @ np.linalg.inv(_LIGHT_TO_CONES).T
    mixed: CodeArray = np.rint(np.clip(light, 0, 1) ** (1 / 2.2) * 255).astype(np.uint8)
    return mixed


def _to_oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    lab: NDArray[np.float64] = np.cbrt((rgb / 255) ** 2.2 @ _LIGHT_TO_CONES.T) @ _CONES_TO_LAB.T
    return lab


# Oklab's two matrices, https://bottosson.github.io/posts/oklab
_LIGHT_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_CONES_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
