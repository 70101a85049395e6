"""A line of words that says as much as there is room for."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from kvstudio.app.theme import current_palette

Tone = Literal["text", "muted", "error"]
GAP = 9.0
HIGH = 5


class FittingLabel(QWidget):
    """Shows the first of some sentences that fits into its width, else the last one, cut.

    The fullest one is always the tool tip and what a screen reader hears. Painted by hand: a
    QLabel lays out anew, with all around it, at each change of its text.
    """

    def __init__(self, tone: Tone = "text", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drafts: tuple[str, ...] = ("",)
        self._name = ""
        self._tone: Tone = tone
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def sentence(self) -> str:
        """The fullest form of what is said."""
        return f"{self._name}  {self._drafts[0]}" if self._name else self._drafts[0]

    @property
    def shown(self) -> str:
        """What is on screen, without the name."""
        metrics = QFontMetricsF(self.font())
        room = max(0.0, self.width() - self._name_width())
        fitting = (each for each in self._drafts if metrics.horizontalAdvance(each) <= room)
        cut = Qt.TextElideMode.ElideRight
        return next(fitting, None) or metrics.elidedText(self._drafts[-1], cut, room)

    def say(self, drafts: Sequence[str] | str, name: str = "", *, tone: Tone | None = None) -> None:
        """Says something else.

        Args:
            drafts: from the fullest to the shortest.
            name: stands before them in bold.
            tone: another one from now on.
        """
        self._drafts = (drafts,) if isinstance(drafts, str) else tuple(drafts)
        self._name, self._tone = name, tone or self._tone
        if self.toolTip() != self.sentence:
            self.setToolTip(self.sentence)
            self.setAccessibleName(self.sentence)
        self.update()

    def _name_width(self) -> float:
        bold = self.font()
        bold.setBold(True)
        return QFontMetricsF(bold).horizontalAdvance(self._name) + GAP if self._name else 0.0

    # ---- Qt overrides -------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = current_palette()
        colors = {"text": palette.text, "muted": palette.muted_text, "error": palette.error}
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        area = QRectF(self.rect())
        painter = QPainter(self)
        painter.setPen(QColor(colors[self._tone]))
        font = painter.font()
        if self._name:
            font.setBold(True)
            painter.setFont(font)
            painter.drawText(area, left, self._name)
            font.setBold(False)
            painter.setFont(font)
        painter.drawText(area.adjusted(self._name_width(), 0, 0, 0), left, self.shown)
        painter.end()

    def sizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height() + HIGH)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
