"""Patterns that tell states apart without colour, as brushes in device-independent pixels."""

from __future__ import annotations

from enum import Enum, unique
from functools import lru_cache

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QTransform


@unique
class Pattern(Enum):
    """What is drawn in one square tile that repeats; the value is the side of the tile."""

    DIAGONAL = 10
    CROSS = 8
    DOTS = 6
    CROSSES = 9


@lru_cache(maxsize=128)
def pattern_brush(pattern: Pattern, ink: str, ground: str, ratio: float = 1.0) -> QBrush:
    """A brush that repeats the pattern in `ink` over an opaque `ground` (see-through is slow).

    Args:
        pattern: what to draw.
        ink: colour of the lines, `#rrggbb` or `#aarrggbb`.
        ground: colour between the lines.
        ratio: device pixels per device-independent pixel.
    """
    side = max(1, round(pattern.value * ratio))
    # An image, not a pixmap: it may outlive the application in this cache.
    tile = QImage(side, side, QImage.Format.Format_RGB32)
    tile.fill(QColor(ground))
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(side / pattern.value, side / pattern.value)
    _draw(painter, pattern, QColor(ink))
    painter.end()
    brush = QBrush(tile)
    brush.setTransform(QTransform.fromScale(1 / ratio, 1 / ratio))
    return brush


def _draw(painter: QPainter, pattern: Pattern, ink: QColor) -> None:
    side = float(pattern.value)
    painter.setPen(QPen(ink, 1.2))
    if pattern is Pattern.DOTS:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawEllipse(QPointF(side / 2, side / 2), 0.9, 0.9)
    elif pattern is Pattern.CROSSES:
        inset = QRectF(0, 0, side, side).adjusted(2.5, 2.5, -2.5, -2.5)
        painter.setPen(QPen(ink, 1.3))
        painter.drawLine(inset.topLeft(), inset.bottomRight())
        painter.drawLine(inset.bottomLeft(), inset.topRight())
    else:
        rising = [QLineF(x - side, side * 1.5, x + side, -side * 0.5) for x in _thrice(side)]
        painter.drawLines(rising)
        if pattern is Pattern.CROSS:
            painter.drawLines([QLineF(r.x1(), -side * 0.5, r.x2(), side * 1.5) for r in rising])


def _thrice(side: float) -> tuple[float, float, float]:
    """Where a diagonal crosses the tile and its two neighbours, so that tiles join up."""
    return -side / 2, side / 2, side * 1.5
