"""Draws a curve through points that may be missing, with dots upon some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPen

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINE = 1.5
DOT = 4.5


def draw_curve(
    painter: QPainter, x: NDArray[np.float64], y: NDArray[np.float64], color: str, *, dots: bool
) -> None:
    """A line from point to point, broken where one is NaN; what has no neighbour is a dot.

    Args:
        painter: in device-independent pixels.
        x: `[N]`.
        y: `[N]`, NaN where there is no point.
        color: of all of it.
        dots: whether every point has one.
    """
    there = np.isfinite(y)
    if not there.any():
        return  # pyqtgraph cannot make an empty polygon
    alone = there & ~np.append(False, there[:-1]) & ~np.append(there[1:], False)
    dotted = there if dots else alone
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(color), LINE))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(pg.functions.arrayToQPath(x, y, connect="finite"))
    if dotted.any():
        pen = QPen(QColor(color), DOT)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPoints(pg.functions.arrayToQPolygonF(x[dotted], y[dotted]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
