"""Patterns differ from each other by shape, join up without seams, and keep their size."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from kvstudio.app.painting.hatch import Pattern, pattern_brush


def painted(pattern: Pattern, ratio: float = 1.0, side: int = 60) -> QImage:
    image = QImage(round(side * ratio), round(side * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    painter = QPainter(image)
    painter.fillRect(QRectF(0, 0, side, side), pattern_brush(pattern, "#000000", "#ffffff", ratio))
    painter.end()
    return image


def darkness(image: QImage) -> float:
    """Share of black, over all pixels."""
    size = image.width() * image.height()
    grays = (
        image.pixelColor(x, y).lightnessF()
        for y in range(image.height())
        for x in range(image.width())
    )
    return 1 - sum(grays) / size


@pytest.mark.parametrize("pattern", Pattern)
def test_a_pattern_is_a_texture_and_not_a_fill(pattern: Pattern) -> None:
    assert 0.02 < darkness(painted(pattern)) < 0.5


def test_patterns_differ_by_shape() -> None:
    pictures = [painted(pattern) for pattern in Pattern]
    assert all(a != b for i, a in enumerate(pictures) for b in pictures[:i])


@pytest.mark.parametrize("pattern", Pattern)
def test_the_lines_keep_their_size_on_a_fine_screen(pattern: Pattern) -> None:
    assert darkness(painted(pattern, 2.0)) == pytest.approx(darkness(painted(pattern)), abs=0.05)


def test_diagonals_join_up_across_tiles() -> None:
    image = painted(Pattern.DIAGONAL)
    side = Pattern.DIAGONAL.side
    for x in range(side, 3 * side):
        for y in range(side, 3 * side):
            moved = image.pixelColor(x + 1, y - 1).lightnessF()
            assert image.pixelColor(x, y).lightnessF() == pytest.approx(moved, abs=0.12)
