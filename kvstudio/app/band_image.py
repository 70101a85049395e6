"""A line so dense that each column of pixels is a band from its lowest to its highest point.

Stroking thousands of points as a path takes tens of milliseconds, this takes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QColor, QImage, qRgba

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Heights = NDArray[np.float32] | NDArray[np.float64]


def coverage(low: Heights, high: Heights, height: int, least: float = 1.0) -> NDArray[np.uint8]:
    """How much of each pixel the bands cover, 0 to 255: `[height, W]`.

    Args:
        low: `[W]`, the lower ends, 0 at the bottom to 1 at the top; NaN where there is nothing.
        high: `[W]`, the upper ends.
        height: in pixels.
        least: pixels that each band is high, at least.
    """
    top = ((1 - high.clip(0, 1)) * height).astype(np.float32)
    bottom = ((1 - low.clip(0, 1)) * height).astype(np.float32)
    missing = np.maximum(0, least - (bottom - top)) / 2
    top = np.clip(top - missing, 0, height - least)
    bottom = np.clip(bottom + missing, least, height)
    top, bottom = np.where(np.isnan(top), height, top), np.where(np.isnan(bottom), 0, bottom)
    rows = np.arange(height, dtype=np.float32)[:, None]
    share = np.minimum(rows + 1, bottom) - np.maximum(rows, top)
    covered: NDArray[np.uint8] = (np.clip(share, 0, 1) * 255).astype(np.uint8)
    return covered


def joined(low: Heights, high: Heights) -> tuple[Heights, Heights]:
    """The bands stretched so that each touches its neighbour on the left."""
    lower, higher = low.copy(), high.copy()
    lower[1:] = np.where(low[1:] > high[:-1], high[:-1], low[1:])
    higher[1:] = np.where(high[1:] < low[:-1], low[:-1], high[1:])
    return lower, higher


def curve_bands(
    x: NDArray[np.float64], y: NDArray[np.float64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bands of a curve through points, for columns 0 to `width`.

    Args:
        x: `[N]`, in columns, ascending.
        y: `[N]`; the curve is broken where one is NaN.
        width: how many columns.
    """
    edges = np.interp(np.arange(width + 1), x, y, left=np.nan, right=np.nan)
    low, high = np.fmin(edges[:-1], edges[1:]), np.fmax(edges[:-1], edges[1:])
    column = np.floor(x).astype(np.intp)
    inside = (column >= 0) & (column < width)
    np.fmin.at(low, column[inside], y[inside])
    np.fmax.at(high, column[inside], y[inside])
    return low, high


def band_image(covered: NDArray[np.uint8], color: str) -> QImage:
    """One colour, as opaque as each pixel is covered."""
    codes = np.ascontiguousarray(covered)
    height, width = codes.shape
    image = QImage(codes.data, width, height, width, QImage.Format.Format_Indexed8)
    ink = QColor(color)
    red, green, blue = ink.red(), ink.green(), ink.blue()
    image.setColorTable([qRgba(red, green, blue, alpha) for alpha in range(256)])
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
