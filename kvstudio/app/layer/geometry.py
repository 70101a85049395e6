"""Which head and dim a column of the pictures is, and where a key leads in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.recording.rows import Cache

SLOTS_PER_PAGE = 16


class Cell(NamedTuple):
    """One number in one of the pictures."""

    picture: int
    slot: int
    column: int


@dataclass(frozen=True)
class Columns:
    """The columns of a picture: B x H x D, side by side."""

    batch: int = 1
    heads: int = 1
    dim: int = 1

    @classmethod
    def of(cls, cache: Cache) -> Columns:
        return cls(cache.batch, cache.heads, cache.dim)

    def __len__(self) -> int:
        return self.batch * self.heads * self.dim

    @property
    def groups(self) -> int:
        """Heads over all of the batch."""
        return self.batch * self.heads

    def head_label(self, group: int) -> str:
        """Such as `h3`, or `b1 h3` in a batch."""
        batch, head = divmod(group, self.heads)
        return f"h{head}" if self.batch == 1 else f"b{batch} h{head}"

    def words(self, column: int) -> str:
        """Such as `head 3, dim 17`."""
        group, dim = divmod(column, self.dim)
        batch, head = divmod(group, self.heads)
        words = f"head {head}, dim {dim}"
        return words if self.batch == 1 else f"batch {batch}, {words}"


def stepped(
    cell: Cell | None,
    key: Qt.Key,
    modifiers: Qt.KeyboardModifier,
    rows: Sequence[int],
    columns: Columns,
) -> Cell | None:
    """Where a key leads from a cell; absent if it does not walk.

    Args:
        cell: where the cursor stands, if it does.
        key: what was pressed.
        modifiers: with Ctrl, sideways is a head further and Home and End are the first and the
            last slot.
        rows: slots of each picture.
        columns: of every picture.
    """
    if not rows or key not in {*_STEPS, Qt.Key.Key_Home, Qt.Key.Key_End, *_PARTS}:
        return None
    if cell is None:
        return Cell(0, 0, 0)
    far = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
    picture, slot, column = cell
    if key in _PARTS:
        # Pictures of K come first and are as many as those of V.
        half = max(1, len(rows) // 2)
        picture = min(picture % half + (half if key is Qt.Key.Key_V else 0), len(rows) - 1)
    elif key in _STEPS:
        down, right = _STEPS[key]
        slot += down
        column += right * (columns.dim if far else 1)
    elif far:
        slot = 0 if key is Qt.Key.Key_Home else rows[picture] - 1
    else:
        column = 0 if key is Qt.Key.Key_Home else len(columns) - 1
    last = max(0, rows[picture] - 1)
    return Cell(picture, min(max(slot, 0), last), min(max(column, 0), len(columns) - 1))


_STEPS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_PageUp: (-SLOTS_PER_PAGE, 0),
    Qt.Key.Key_PageDown: (SLOTS_PER_PAGE, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}
_PARTS = (Qt.Key.Key_K, Qt.Key.Key_V)
