"""What lies on top of the strips: marks of reads, writes, edits and findings, and the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from kvstudio.app.painting.strips import MarkKind

if TYPE_CHECKING:
    from kvstudio.app.painting.strip_scene import StripScene
    from kvstudio.app.painting.strips import StripMark

BAR = 2.5
LEAST_WIDTH = 5.0
GLYPH = 4.5


def paint_marks(painter: QPainter, scene: StripScene) -> None:
    """Reads run along the bottom of a strip, writes along the top, the rest sits in the middle.

    What is fresh has an outline.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for mark in scene.marks:
        rect = _mark_rect(scene, mark)
        if rect.isValid():
            _paint_mark(painter, scene, mark.kind, rect)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_selection(painter: QPainter, scene: StripScene) -> None:
    """A faint band over all layers of the group, a frame around the slots, and the cursor."""
    selection = scene.selection
    if selection is None:
        return
    layout, palette = scene.layout, scene.palette
    place = layout.group_of(selection.layer)
    rect = layout.slots_rect(selection.layer, selection.first, selection.end, scene.sight)
    band = QRectF(
        rect.left(), place.rows_top - scene.sight.top, rect.width(), place.bottom - place.rows_top
    )
    faint = QColor(palette.accent)
    faint.setAlpha(38)
    painter.fillRect(band, faint)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    frame = _at_least(rect, 3.0).adjusted(-2, -1, 2, 1)
    painter.setPen(QPen(QColor(palette.background), 4))
    painter.drawRect(frame)
    painter.setPen(QPen(QColor(palette.accent), 2))
    painter.drawRect(frame)
    if scene.has_focus:
        at = layout.slots_rect(selection.layer, selection.cursor, selection.cursor + 1, scene.sight)
        painter.setPen(QPen(QColor(palette.text), 1, Qt.PenStyle.DotLine))
        painter.drawRect(_at_least(at, 3.0).adjusted(-4, -3, 4, 3))


def _mark_rect(scene: StripScene, mark: StripMark) -> QRectF:
    rect = scene.layout.slots_rect(mark.layer, mark.first, mark.end, scene.sight)
    rect = _at_least(rect, LEAST_WIDTH)
    rect.setLeft(max(rect.left(), scene.layout.gutter))
    rect.setRight(min(rect.right(), scene.layout.width))
    return rect


def _at_least(rect: QRectF, width: float) -> QRectF:
    missing = max(0.0, width - rect.width()) / 2
    return rect.adjusted(-missing, 0, missing, 0)


def _paint_mark(painter: QPainter, scene: StripScene, kind: MarkKind, rect: QRectF) -> None:
    palette = scene.palette
    if kind is MarkKind.FRESH:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.text), 1))
        painter.drawRect(rect.adjusted(0.5, -0.5, -0.5, 0.5))
    elif kind is MarkKind.READ:
        bar = QRectF(rect.left(), rect.bottom() - BAR, rect.width(), BAR + 1)
        painter.fillRect(bar, QColor(palette.read_mark))
    elif kind is MarkKind.WRITE:
        bar = QRectF(rect.left(), rect.top() - 1, rect.width(), BAR + 1)
        painter.fillRect(bar, QColor(palette.write_mark))
    elif kind is MarkKind.EDIT:
        _paint_shape(painter, rect.center(), _DIAMOND, palette.edited, palette.text)
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.error), 1.6))
        painter.drawRect(rect.adjusted(0.5, -0.5, -0.5, 0.5))
        _paint_shape(painter, rect.center(), _WARNING, palette.error, palette.background)
        _paint_exclamation(painter, rect.center(), palette.background)


_DIAMOND = ((0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0))
_WARNING = ((0.0, -1.4), (1.6, 1.3), (-1.6, 1.3))


def _paint_shape(
    painter: QPainter,
    centre: QPointF,
    shape: tuple[tuple[float, float], ...],
    fill: str,
    edge: str,
) -> None:
    corners = [QPointF(centre.x() + x * GLYPH, centre.y() + y * GLYPH) for x, y in shape]
    painter.setBrush(QColor(fill))
    painter.setPen(QPen(QColor(edge), 1))
    painter.drawPolygon(QPolygonF(corners))


def _paint_exclamation(painter: QPainter, centre: QPointF, ink: str) -> None:
    x, y = centre.x(), centre.y()
    painter.setPen(QPen(QColor(ink), 1.4))
    painter.drawLine(QPointF(x, y - 2.2), QPointF(x, y + 1.2))
    painter.drawPoint(QPointF(x, y + 3.6))
