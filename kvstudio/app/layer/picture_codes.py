"""The codes of K and V of one layer, kept from moment to moment and encoded where they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.codes import Code, encode

if TYPE_CHECKING:
    from kvstudio.app.codes import BoolArray, CodeArray
    from kvstudio.app.layer.values import LayerValues, Slots

ValueRange = tuple[float, float]


class LayerCodes:
    """Codes at the moment last shown.

    Attributes:
        codes: uint8 `[2, T, B * H * D]`, K then V.
    """

    def __init__(self) -> None:
        self.codes: CodeArray = np.empty((2, 0, 0), np.uint8)
        self._written: BoolArray = np.empty(0, np.bool_)
        self._range: ValueRange | None = None

    def show(self, layer: LayerValues, stale: Slots, value_range: ValueRange) -> None:
        """Encodes what differs from the moment before; `stale` slots hold other values now."""
        if self.codes.shape != layer.values.shape:
            self.codes = np.full(layer.values.shape, Code.UNWRITTEN, np.uint8)
            self._written = np.zeros(len(layer.written), np.bool_)
        self.codes[:, self._written & ~layer.written] = Code.UNWRITTEN
        if value_range == self._range:
            new = layer.written & ~self._written
        else:
            new, self._range = layer.written.copy(), value_range
        stale = stale[stale < len(new)]
        new[stale] = layer.written[stale]
        self._written = layer.written.copy()
        slots = np.flatnonzero(new)
        if slots.size:
            for part, codes in zip(layer.values, self.codes, strict=True):
                codes[slots] = encode(part[slots], np.ones(len(slots), np.bool_), *value_range)
