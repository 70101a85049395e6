"""The verdict on the recording: a glyph, a few words, and a sentence more where there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from kvstudio.app.findings.words import NORMAL
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from kvstudio.app.findings.words import VerdictWords
    from kvstudio.app.theme import Palette

FLASH_MS = 1_600


class VerdictLine(QWidget):
    """Quiet while nothing is wrong; `flash` makes one look."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.glyph, self.title, self.more = QLabel(), QLabel(), QLabel()
        self.setObjectName("verdict_line")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.more.setProperty("role", "muted")
        self.more.setWordWrap(True)
        self.more.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 5, 10, 5)
        row.setSpacing(7)
        row.addWidget(self.glyph)
        row.addWidget(self.title)
        row.addWidget(self.more, 1)
        self._words: VerdictWords | None = None
        self._flash = QTimer(self, singleShot=True, interval=FLASH_MS)
        self._flash.timeout.connect(self._dress)

    def say(self, words: VerdictWords) -> None:
        self._words = words
        self.glyph.setText(words.glyph)
        self.title.setText(words.title)
        self.more.setText(words.more)
        self.setToolTip(f"<qt>{NORMAL}</qt>")
        self.setAccessibleName(f"{words.title}. {words.more}")
        self.setVisible(bool(words.title))
        self._dress()

    def flash(self) -> None:
        """Draws the eye here for a moment."""
        self._flash.start()
        self._dress()

    @property
    def is_flashing(self) -> bool:
        return self._flash.isActive()

    # ---- private ------------------------------------------------------------------------------

    def _dress(self) -> None:
        palette = current_palette()
        color = self._color(palette)
        ground = f"background: {color};" if self.is_flashing else ""
        ink = palette.background if self.is_flashing else color
        self.setStyleSheet(f"QWidget#verdict_line {{ {ground} border-radius: 4px; }}")
        for label in (self.glyph, self.title):
            label.setStyleSheet(f"color: {ink}; font-weight: 600;")

    def _color(self, palette: Palette) -> str:
        tone = "calm" if self._words is None else self._words.tone
        tones = {"ok": palette.ok, "warning": palette.warning, "error": palette.error}
        return tones.get(tone, palette.text)
