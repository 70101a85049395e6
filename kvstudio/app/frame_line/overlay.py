"""Paints what moves over the time line: the cursor and the head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from kvstudio.app.painting.words import draw_word, word_size

if TYPE_CHECKING:
    from kvstudio.app.frame_line.scene import LineScene

TINT = 40
NARROWEST = 3.0
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def paint_cursor(painter: QPainter, scene: LineScene, frame: int) -> None:
    """A frame around the cell, a tint over the rows below, the number where it is narrow."""
    cell, palette, rows = scene.cell_rect(frame), scene.palette, scene.layout.all
    missing = max(0.0, NARROWEST - cell.width()) / 2
    band = QRectF(cell.left() - missing, rows.top(), cell.width() + 2 * missing, rows.height())
    if band.right() < scene.left or band.left() > scene.right:
        return
    tint = QColor(palette.accent)
    tint.setAlpha(TINT)
    below = QRectF(band.left(), cell.bottom(), band.width(), rows.bottom() - cell.bottom())
    painter.fillRect(below, tint)
    painter.setPen(QPen(QColor(palette.accent), 1))
    for x in (round(below.left()), round(below.right())):
        painter.drawLine(QLineF(x, below.top(), x, below.bottom()))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if cell.width() >= scene.number_width:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.accent), 2.4))
        painter.drawRoundedRect(cell.adjusted(-0.5, -1, -1, 1), 4, 4)
    else:
        _paint_plate(painter, scene, cell, frame)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_head(painter: QPainter, scene: LineScene, *, following: bool) -> None:
    """Where the run goes on: a full arrow while the cursor goes along, else a hollow one."""
    rect, palette = scene.head_rect, scene.palette
    color = QColor(palette.accent if following else palette.muted_text)
    x, y = rect.left() + 4, rect.center().y()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.4))
    painter.setBrush(color if following else Qt.BrushStyle.NoBrush)
    painter.drawPolygon(QPolygonF([QPointF(x, y - 5), QPointF(x + 7, y), QPointF(x, y + 5)]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    words = "following" if following else "follow"
    painter.drawText(rect.adjusted(16, 0, 0, 0), LEFT, words)


def _paint_plate(painter: QPainter, scene: LineScene, cell: QRectF, frame: int) -> None:
    words = str(frame)
    width = word_size(words, scene.font).width() + 4
    left = min(max(cell.center().x() - width / 2, scene.left), scene.right - width)
    plate = QRectF(left, cell.top() + 1, width, cell.height() - 2)
    painter.setPen(QPen(QColor(scene.palette.panel), 2))
    painter.setBrush(QColor(scene.palette.accent))
    painter.drawRoundedRect(plate.adjusted(-1, -1, 1, 1), 4, 4)
    draw_word(painter, plate, words, scene.palette.on_accent)
