"""Roles of many slots to few rectangles: the worst state of each pixel, then runs of pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kvstudio.app.painting.strips import PaintedRole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kvstudio.app.painting.strips import SlotRoles

_FROM_QUIET_TO_LOUD = (
    PaintedRole.NOTHING,
    PaintedRole.UNWRITTEN,
    PaintedRole.VOICE,
    PaintedRole.TEXT,
    PaintedRole.GENERATED,
    PaintedRole.EDITED,
    PaintedRole.STALE,
    PaintedRole.HOLE,
    PaintedRole.DROPPED,
    PaintedRole.INF,
    PaintedRole.NAN,
)
LOUD = _FROM_QUIET_TO_LOUD[5:]
"""Roles that keep a least width: one slot among thousands must stay visible."""

_ROLE_OF_RANK = np.array(_FROM_QUIET_TO_LOUD, np.uint8)
_RANK_OF_ROLE = np.argsort(_ROLE_OF_RANK).astype(np.uint8)
_FIRST_LOUD_RANK = _FROM_QUIET_TO_LOUD.index(LOUD[0])


class Run(NamedTuple):
    """Neighbours of one role in one row, `[first, end)`."""

    row: int
    first: int
    end: int
    role: int


def stacked(rows: Sequence[SlotRoles], width: int) -> SlotRoles:
    """Rows of different lengths as one matrix `[rows, width]`, filled up with `NOTHING`."""
    matrix = np.full((len(rows), width), PaintedRole.NOTHING, np.uint8)
    for line, row in zip(matrix, rows, strict=True):
        line[: len(row)] = row
    return matrix


def pixel_roles(
    roles: SlotRoles, first: float, slots_per_pixel: float, width: int, least_width: int = 1
) -> SlotRoles:
    """The role to paint in each pixel: the worst of the slots that fall on it.

    Args:
        roles: uint8 `[rows, slots]`.
        first: slot at the left edge, in fractions.
        slots_per_pixel: scale.
        width: pixels.
        least_width: pixels that a loud role takes at least.

    Returns:
        uint8 `[rows, width]`.
    """
    slots = roles.shape[1]
    if slots == 0 or width <= 0:
        return np.full((len(roles), max(0, width)), PaintedRole.NOTHING, np.uint8)
    centre = 0.5 if slots_per_pixel < 1 else 0.0
    starts = np.floor(first + (np.arange(width) + centre) * slots_per_pixel).astype(np.intp)
    inside = int(np.searchsorted(starts, slots))
    ranks = np.zeros((len(roles), width), np.uint8)
    if inside and slots_per_pixel < 1:
        ranks[:, :inside] = _RANK_OF_ROLE[roles[:, starts[:inside]]]
    elif inside:
        end = min(slots, int(np.floor(first + width * slots_per_pixel)) + 1)
        seen = _RANK_OF_ROLE[roles[:, starts[0] : end]]
        ranks[:, :inside] = np.maximum.reduceat(seen, starts[:inside] - starts[0], axis=1)
    widened: SlotRoles = _ROLE_OF_RANK[_widened(ranks, least_width)]
    return widened


def runs(roles: SlotRoles, least: int = 1) -> list[Run]:
    """Runs of equal neighbours in every row of `[rows, width]`, but for `NOTHING`.

    Args:
        roles: uint8 `[rows, width]`.
        least: length of a run worth having.
    """
    if roles.size == 0:
        return []
    starts = np.ones(roles.shape, np.bool_)
    np.not_equal(roles[:, 1:], roles[:, :-1], out=starts[:, 1:])
    flat = np.flatnonzero(starts)
    row, first = np.divmod(flat, roles.shape[1])
    ends = np.append(flat[1:], roles.size) - flat + first
    kinds = roles.ravel()[flat]
    kept = (kinds != PaintedRole.NOTHING) & (ends - first >= least)
    columns = (each[kept].tolist() for each in (row, first, ends, kinds))
    return list(map(Run, *columns))


def _widened(ranks: NDArray[np.uint8], least_width: int) -> NDArray[np.uint8]:
    loud = np.where(ranks >= _FIRST_LOUD_RANK, ranks, np.uint8(0))
    if least_width < 2 or not loud.any():
        return ranks
    result: NDArray[np.uint8] = ranks.copy()
    for shift in range(1, least_width):
        reach = (shift + 1) // 2  # one pixel to the right, one to the left, and so on
        if shift % 2:
            np.maximum(result[:, reach:], loud[:, :-reach], out=result[:, reach:])
        else:
            np.maximum(result[:, :-reach], loud[:, reach:], out=result[:, :-reach])
    return result
