"""The slots of a chunk as a bar: voice, text, generated, left, and where required_len lies."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from kvstudio.analysis.ledger import LedgerRow
from kvstudio.app.painting.hatch import Pattern, pattern_brush
from kvstudio.app.painting.words import draw_word, fitting_word, smaller
from kvstudio.app.theme import Palette, current_palette, ink_on

HEIGHT = 22


@dataclass(frozen=True)
class Segment:
    """Slots `[first, last)` of one kind; `words` from the fullest to the shortest."""

    kind: str  # voice | before | text | generated | left | to come | missing
    first: int
    last: int

    @property
    def words(self) -> tuple[str, ...]:
        count = self.last - self.first
        return (f"{self.kind} {count:,}", f"{count:,}")


def segments(row: LedgerRow) -> list[Segment]:
    """The bar from left to right; empty segments are left out."""
    chunk = row.chunk
    used = chunk.current_end if row.used is None else row.used
    before = min(used, chunk.current_end)
    text = min(used, chunk.current_end + chunk.token_count)
    end = max(row.capacity, used)
    required = max(end, chunk.required_len if row.used is not None else 0)
    kinds = [
        ("before" if chunk.continues is not None else "voice", 0, before),
        ("text", before, text),
        ("generated", text, used),
        ("left", used, end),
        ("missing" if row.expanded else "to come", end, required),
    ]
    return [Segment(kind, first, last) for kind, first, last in kinds if last > first]


class LedgerBar(QWidget):
    """Paints one row of the ledger; counts are written where they fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.segments: list[Segment] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_row(self, row: LedgerRow) -> None:
        self.segments = segments(row)
        words = ", ".join(each.words[0] for each in self.segments)
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.update()

    def _look(self, kind: str, palette: Palette) -> tuple[str, QBrush]:
        """Ground for words, and what to fill with."""
        ratio = self.devicePixelRatioF()
        if kind == "left":
            brush = pattern_brush(Pattern.DIAGONAL, palette.hatch, palette.unwritten, ratio)
            return palette.unwritten, brush
        if kind == "to come":
            return palette.background, QBrush(QColor(palette.background))
        if kind == "missing":
            brush = pattern_brush(Pattern.CROSSES, palette.error, palette.background, ratio)
            return palette.background, brush
        color = {"text": palette.text_slot, "generated": palette.generated}.get(kind, palette.voice)
        return color, QBrush(QColor(color))

    # ---- Qt overrides -------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = current_palette()
        painter = QPainter(self)
        painter.setFont(smaller(self.font()))
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        slots = self.segments[-1].last if self.segments else 1
        for each in self.segments:
            left = area.left() + area.width() * each.first / slots
            width = area.width() * (each.last - each.first) / slots
            rect = QRectF(left, area.top(), width, area.height())
            ground, brush = self._look(each.kind, palette)
            painter.fillRect(rect, brush)
            word = fitting_word(rect, each.words, painter.font())
            if word is not None:
                plate = ground if each.kind in ("left", "missing") else ""
                draw_word(painter, rect, word, ink_on(ground), plate)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.border)))
        painter.drawRect(area)
        painter.end()

    def sizeHint(self) -> QSize:
        return QSize(0, HEIGHT)
