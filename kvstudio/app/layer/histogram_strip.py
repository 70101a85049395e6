"""A small histogram in the colours of the pictures: what is common, what is cut off, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from kvstudio.app.codes import Code, lookup_table
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent

    from kvstudio.recording.rows import Floats

HEIGHT = 24
SCALE_HEIGHT = 5
MARGIN = 5.0
ROOM_BESIDE = 0.06
GRAB = 8.0
NEAREST = 1e-6  # share of the axis that low and high keep apart


class HistogramStrip(QWidget):
    """Bars over a scale of colours; the two ends of the range can be dragged.

    Signals:
        range_dragged: low, high.
    """

    range_dragged = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sample: Floats = np.empty(0, np.float32)
        self._range = (-1.0, 1.0)
        self._axis = (-1.0, 1.0)
        self._counts = np.empty(0, np.intp)
        self._dragged = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName("Histogram of the written values")
        self.setToolTip("How often each value occurs, in its colour. Drag the ends of the range.")

    def show_sample(self, sample: Floats) -> None:
        """Args: `sample` finite values."""
        self._sample = sample
        self._fit_axis()

    def show_range(self, low: float, high: float) -> None:
        self._range = low, high
        if self._dragged < 0:
            self._fit_axis()
        self.update()

    def x_of(self, value: float) -> float:
        first, last = self._axis
        return MARGIN + (value - first) / (last - first) * (self.width() - 2 * MARGIN)

    # ---- private ------------------------------------------------------------------------------

    def _value_at(self, x: float) -> float:
        first, last = self._axis
        share = (x - MARGIN) / max(1.0, self.width() - 2 * MARGIN)
        return first + min(max(share, 0.0), 1.0) * (last - first)

    def _fit_axis(self) -> None:
        low, high = self._range
        if self._sample.size:
            low = min(low, float(self._sample.min()))
            high = max(high, float(self._sample.max()))
        room = (high - low) * ROOM_BESIDE
        self._axis = low - room, high + room
        self._counts = np.empty(0, np.intp)
        self.update()

    def _bars(self, width: int) -> Floats:
        """Height of each pixel's bar from 0 to 1; roots, so that rare values can be seen."""
        if len(self._counts) != width:
            self._counts = np.histogram(self._sample, width, self._axis)[0]
        bars: Floats = np.sqrt(self._counts / max(1, self._counts.max(initial=0))).astype("f4")
        return bars

    def _picture(self, width: int, height: int) -> QImage:
        low, high = self._range
        first, last = self._axis
        values = first + (np.arange(width) + 0.5) / width * (last - first)
        steps = Code.HIGHEST - Code.LOWEST
        codes = np.rint((values - low) / (high - low) * steps) + Code.LOWEST
        codes = np.clip(codes, Code.BELOW, Code.ABOVE).astype(np.intp)
        palette = current_palette()
        table = lookup_table(palette)[:, [2, 1, 0, 3]].copy().view(np.uint32)[:, 0]
        ground = np.uint32(QColor(palette.background).rgb())
        bar_height = height - SCALE_HEIGHT - 1
        levels = bar_height - np.arange(bar_height)[:, None]
        # A bar in the colour of zero would be lost on the ground: bars in ink, the scale in colour.
        ink = np.uint32(QColor(palette.muted_text).rgb())
        bars = np.where(levels <= np.ceil(self._bars(width) * bar_height), ink, ground)
        scale = np.broadcast_to(table[codes], (SCALE_HEIGHT, width))
        gap = np.full((1, width), ground)
        pixels = np.ascontiguousarray(np.concatenate([bars, gap, scale]), np.uint32)
        image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
        return image.copy()

    def _paint_end(self, painter: QPainter, x: float, direction: int) -> None:
        palette = current_palette()
        painter.setPen(QPen(QColor(palette.text), 1.2))
        painter.drawLine(QPointF(x, 0), QPointF(x, HEIGHT))
        painter.setBrush(QColor(palette.text))
        corners = [QPointF(x, 0), QPointF(x + 5 * direction, 0), QPointF(x, 6)]
        painter.drawPolygon(QPolygonF(corners))

    def _end_near(self, x: float) -> int:
        """0 for the low end, 1 for the high one, -1 if neither is near."""
        distances = [abs(self.x_of(end) - x) for end in self._range]
        nearest = distances.index(min(distances))
        return nearest if distances[nearest] <= GRAB else -1

    # ---- Qt overrides -------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        area = QRectF(self.rect()).adjusted(MARGIN, 0, -MARGIN, 0)
        if area.width() >= 2:
            painter.drawImage(area, self._picture(int(area.width()), HEIGHT))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for end, direction in zip(self._range, (1, -1), strict=True):
                self._paint_end(painter, self.x_of(end), direction)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._dragged = self._end_near(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        grabs = self._dragged >= 0 or self._end_near(x) >= 0
        self.setCursor(Qt.CursorShape.SizeHorCursor if grabs else Qt.CursorShape.ArrowCursor)
        if self._dragged < 0:
            return
        low, high = self._range
        apart = (self._axis[1] - self._axis[0]) * NEAREST
        value = self._value_at(x)
        if self._dragged == 0:
            low = min(value, high - apart)
        else:
            high = max(value, low + apart)
        self.range_dragged.emit(low, high)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = -1
        self._fit_axis()

    def sizeHint(self) -> QSize:
        return QSize(150, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(64, HEIGHT)
