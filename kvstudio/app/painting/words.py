"""Words inside painted shapes: drawn only where they fit, on a ground that keeps them readable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

PADDING = 5.0


def fits(rect: QRectF, word: str, font: QFont) -> bool:
    metrics = QFontMetricsF(font)
    width = metrics.horizontalAdvance(word) + 2 * PADDING
    return rect.width() >= width and rect.height() >= metrics.ascent() + metrics.descent() * 0.5


def draw_word(painter: QPainter, rect: QRectF, word: str, ink: str, ground: str = "") -> bool:
    """Write a word in the middle of a rectangle, on a rounded ground if one is given.

    Returns:
        Whether it fitted; if not, nothing is drawn.
    """
    font = painter.font()
    if not fits(rect, word, font):
        return False
    if ground:
        metrics = QFontMetricsF(font)
        plate = QRectF(0, 0, metrics.horizontalAdvance(word) + 2 * PADDING, metrics.height())
        plate.moveCenter(rect.center())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(plate.intersected(rect), 3, 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QColor(ink))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, word)
    return True
