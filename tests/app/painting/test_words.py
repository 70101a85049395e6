"""A word is written where it fits, a shorter one where only that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont

from kvstudio.app.painting.words import fitting_word, word_size

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

WORDS = ("generated 17", "gen 17")


def test_the_first_word_that_fits_is_taken(qapp: QApplication) -> None:
    font = QFont()
    long, short = (word_size(word, font) for word in WORDS)
    assert fitting_word(QRectF(0, 0, long.width(), 30), WORDS, font) == "generated 17"
    assert fitting_word(QRectF(0, 0, long.width() - 1, 30), WORDS, font) == "gen 17"
    assert fitting_word(QRectF(0, 0, short.width() - 1, 30), WORDS, font) is None
    assert fitting_word(QRectF(0, 0, 500, short.height() / 2), WORDS, font) is None
