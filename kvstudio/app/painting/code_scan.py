"""What a code matrix holds besides values: unwritten rows, and cells that are NaN or Inf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF

from kvstudio.app.codes import Code

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kvstudio.app.codes import BoolArray, CodeArray

Run = tuple[int, int]
"""First and end of neighbours."""

MOST_SPECIAL = 100_000
"""More NaN than this cannot fall between the pixels; they need no list to be seen."""


@dataclass(frozen=True)
class Region:
    """A rectangle of cells that are all unwritten or all masked, to carry its word."""

    code: Code
    rows: Run
    columns: Run

    @property
    def rect(self) -> QRectF:
        (top, bottom), (left, right) = self.rows, self.columns
        return QRectF(left, top, right - left, bottom - top)


@dataclass(frozen=True)
class CodeScan:
    """One look at a matrix of codes.

    Attributes:
        unwritten_rows: runs of rows without a single written cell.
        other_rows: the runs between them.
        unwritten_columns: runs of columns that are unwritten from top to bottom.
        has_loose_unwritten: whether `other_rows` hold unwritten cells too.
        special: `[n]` flat positions of NaN and Inf, empty if there are too many to matter.
    """

    unwritten_rows: list[Run]
    other_rows: list[Run]
    unwritten_columns: list[Run]
    has_loose_unwritten: bool
    special: NDArray[np.intp]

    def regions(self, rows: int, columns: int) -> list[Region]:
        """Where "unwritten" can be written down."""
        by_row = [Region(Code.UNWRITTEN, run, (0, columns)) for run in self.unwritten_rows]
        return by_row or [Region(Code.UNWRITTEN, (0, rows), run) for run in self.unwritten_columns]


def scan(codes: CodeArray) -> CodeScan:
    """Look through a matrix `[rows, columns]`; rows of nothing but values cost next to nothing."""
    if codes.size == 0:
        return CodeScan([], [], [], False, np.empty(0, np.intp))
    full = codes.min(axis=1) == Code.UNWRITTEN
    mixed = (codes.max(axis=1) >= Code.NEG_INF) & ~full
    suspects = codes if mixed.all() else codes[mixed]
    unwritten = suspects == Code.UNWRITTEN
    columns = unwritten.all(axis=0) if mixed.all() else np.zeros(codes.shape[1], np.bool_)
    return CodeScan(
        true_runs(full),
        true_runs(~full),
        true_runs(columns),
        bool(unwritten.any()),
        _special(suspects, np.flatnonzero(mixed), codes.shape[1]),
    )


def true_runs(flags: BoolArray) -> list[Run]:
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def _special(suspects: CodeArray, rows: NDArray[np.intp], columns: int) -> NDArray[np.intp]:
    # Unsigned wrap-around: one comparison finds NEG_INF, POS_INF and NAN.
    special = (suspects - np.uint8(Code.NEG_INF)) < 3
    if np.count_nonzero(special) > MOST_SPECIAL:
        return np.empty(0, np.intp)
    row, column = np.divmod(np.flatnonzero(special), columns)
    return rows[row] * columns + column
