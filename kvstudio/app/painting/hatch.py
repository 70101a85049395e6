"""Patterns that tell states apart without colour, as brushes in device-independent pixels."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QTransform


class Pattern(Enum):
    """What one square tile shows; it repeats."""

    DIAGONAL = auto()
    FALLING = auto()  # a diagonal the other way, and bolder
    CROSS = auto()
    DOTS = auto()
    CROSSES = auto()
    PLUSES = auto()
    VERTICAL = auto()

    @property
    def side(self) -> int:
        """Length of the tile's side in device-independent pixels."""
        return _SIDES[self]


_SIDES = {
    Pattern.DIAGONAL: 10,
    Pattern.FALLING: 8,
    Pattern.CROSS: 8,
    Pattern.DOTS: 6,
    Pattern.CROSSES: 9,
    Pattern.PLUSES: 9,
    Pattern.VERTICAL: 5,
}


@lru_cache(maxsize=128)
def pattern_brush(pattern: Pattern, ink: str, ground: str, ratio: float = 1.0) -> QBrush:
    """A brush that repeats the pattern in `ink` over an opaque `ground` (see-through is slow).

    Args:
        pattern: what to draw.
        ink: colour of the lines, `#rrggbb` or `#aarrggbb`.
        ground: colour between the lines.
        ratio: device pixels per device-independent pixel.
    """
    side = max(1, round(pattern.side * ratio))
    # An image, not a pixmap: it may outlive the application in this cache.
    tile = QImage(side, side, QImage.Format.Format_RGB32)
    tile.fill(QColor(ground))
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(side / pattern.side, side / pattern.side)
    _draw(painter, pattern, QColor(ink))
    painter.end()
    brush = QBrush(tile)
    brush.setTransform(QTransform.fromScale(1 / ratio, 1 / ratio))
    return brush


def _draw(painter: QPainter, pattern: Pattern, ink: QColor) -> None:
    side = float(pattern.side)
    painter.setPen(QPen(ink, 1.8 if pattern is Pattern.FALLING else 1.2))
    if pattern is Pattern.DOTS:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawEllipse(QPointF(side / 2, side / 2), 0.9, 0.9)
    else:
        painter.drawLines(_LINES[pattern](side))


def _rising(side: float) -> list[QLineF]:
    """The diagonal and its neighbours, so that the corners of tiles join up."""
    starts = (-side / 2, side / 2, side * 1.5)
    return [QLineF(x - side, side * 1.5, x + side, -side * 0.5) for x in starts]


def _falling(side: float) -> list[QLineF]:
    return [
        QLineF(line.x1(), side - line.y1(), line.x2(), side - line.y2()) for line in _rising(side)
    ]


def _cross(side: float) -> list[QLineF]:
    return _rising(side) + _falling(side)


def _crosses(side: float) -> list[QLineF]:
    box = QRectF(0, 0, side, side).adjusted(2.5, 2.5, -2.5, -2.5)
    return [QLineF(box.topLeft(), box.bottomRight()), QLineF(box.bottomLeft(), box.topRight())]


def _pluses(side: float) -> list[QLineF]:
    middle, arm = side / 2, side / 4
    across = QLineF(middle - arm, middle, middle + arm, middle)
    return [across, QLineF(middle, middle - arm, middle, middle + arm)]


def _vertical(side: float) -> list[QLineF]:
    return [QLineF(side / 2, -1, side / 2, side + 1)]


_LINES = {
    Pattern.DIAGONAL: _rising,
    Pattern.FALLING: _falling,
    Pattern.CROSS: _cross,
    Pattern.CROSSES: _crosses,
    Pattern.PLUSES: _pluses,
    Pattern.VERTICAL: _vertical,
}
