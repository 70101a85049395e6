"""Words inside painted shapes: drawn only where they fit, on a ground that keeps them readable."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

if TYPE_CHECKING:
    from collections.abc import Iterable

PADDING = 4.0
_SMALL_FONT_SHARE = 0.92
_LEAST_FONT_SHARE = 0.8  # of the line height: what figures and small letters really take


def smaller(font: QFont) -> QFont:
    """The font for dense pictures; one whose size is fixed in pixels stays as it is."""
    result = QFont(font)
    if font.pointSizeF() > 0:
        result.setPointSizeF(font.pointSizeF() * _SMALL_FONT_SHARE)
    return result


def word_size(word: str, font: QFont) -> QSizeF:
    """The plate a word needs: its width with padding, and the height of a line."""
    return _word_size(word, font.toString())


@lru_cache(maxsize=1024)
def _word_size(word: str, font: str) -> QSizeF:
    described = QFont()
    described.fromString(font)
    metrics = QFontMetricsF(described)
    return QSizeF(metrics.horizontalAdvance(word) + 2 * PADDING, metrics.height())


def fitting_word(rect: QRectF, words: Iterable[str], font: QFont) -> str | None:
    """The first of some words that fits into a rectangle."""
    for word in words:
        size = word_size(word, font)
        if rect.width() >= size.width() and rect.height() >= size.height() * _LEAST_FONT_SHARE:
            return word
    return None


def draw_word(painter: QPainter, rect: QRectF, word: str, ink: str, ground: str = "") -> None:
    """Write a word in the middle of a rectangle, on a rounded ground if one is given."""
    if ground:
        plate = QRectF(rect.topLeft(), word_size(word, painter.font()))
        plate.moveCenter(rect.center())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(plate.intersected(rect), 3, 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QColor(ink))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, word)
