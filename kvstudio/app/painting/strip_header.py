"""The header of a group of strips: its title, the ruler of slots, offset and capacity in words."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from kvstudio.app.painting.strip_layout import HEADER_HEIGHT, RULER_HEIGHT, TITLE_HEIGHT, tick_step
from kvstudio.app.painting.strip_painter import draw_pointer

if TYPE_CHECKING:
    from kvstudio.app.painting.strip_scene import ShownGroup, StripScene

LABEL_DISTANCE = 46.0
LEAST_DISTANCE = 30.0
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignCenter


def paint_header(painter: QPainter, scene: StripScene, shown: ShownGroup) -> None:
    """Paint the header; it stays at the top of the view as long as its rows are in sight."""
    top = shown.place.top - scene.sight.top
    last = shown.place.bottom - scene.sight.top - HEADER_HEIGHT
    top = min(max(top, 0.0), max(top, last))
    ground = QRectF(0, top, scene.layout.width, HEADER_HEIGHT)
    painter.fillRect(ground, QColor(scene.palette.panel))
    _paint_title(painter, scene, shown, top)
    _paint_ruler(painter, scene, shown, top + TITLE_HEIGHT)


def paint_names(painter: QPainter, scene: StripScene, shown: ShownGroup) -> None:
    """Paint the names of the layers in the margin; the selected one stands out."""
    place = shown.place
    gutter = QRectF(0, place.rows_top - scene.sight.top, scene.layout.gutter, place.bottom)
    painter.fillRect(gutter, QColor(scene.palette.panel))
    chosen = scene.selection.layer if scene.selection else -1
    for index, strip in enumerate(shown.group.strips):
        layer = place.first_layer + index
        rect = scene.layout.strip_rect(layer, scene.sight)
        named = QRectF(4, rect.top(), scene.layout.gutter - 12, rect.height())
        color = scene.palette.accent if layer == chosen else scene.palette.muted_text
        painter.setPen(QColor(color))
        painter.drawText(named, _RIGHT, strip.name)


def _paint_title(painter: QPainter, scene: StripScene, shown: ShownGroup, top: float) -> None:
    palette, layout, place = scene.palette, scene.layout, shown.place
    metrics = QFontMetricsF(scene.font)
    title = shown.group.name
    bold = painter.font()
    bold.setBold(True)
    painter.setFont(bold)
    painter.setPen(QColor(palette.text))
    title_width = QFontMetricsF(bold).horizontalAdvance(title)
    painter.drawText(QRectF(8, top, title_width + 2, TITLE_HEIGHT), _LEFT, title)
    painter.setFont(scene.font)
    if shown.group.words:
        _paint_words(painter, scene, shown, QRectF(title_width + 18, top, 0, TITLE_HEIGHT))
        return
    if not shown.group.strips:
        return
    capacity = max(strip.capacity for strip in shown.group.strips)
    if not capacity:
        return
    words = f"capacity {capacity}"
    width = metrics.horizontalAdvance(words)
    right = min(layout.x_of(place, capacity, scene.sight) + 2, layout.width - 4)
    free_from = max(layout.gutter, title_width + 20)
    if right - width >= free_from:
        painter.setPen(QColor(palette.muted_text))
        painter.drawText(QRectF(right - width - 1, top, width + 2, TITLE_HEIGHT), _RIGHT, words)
        _paint_offset(painter, scene, shown, top, (free_from, right - width - 12))
    else:  # a strip so short that both stand to the right of it
        _paint_offset(painter, scene, shown, top, (free_from, layout.width), f" · {words}")


def _paint_words(painter: QPainter, scene: StripScene, shown: ShownGroup, place: QRectF) -> None:
    """Write as much as fits between the title and the right edge."""
    place.setRight(scene.layout.width - 4)
    metrics = QFontMetricsF(scene.font)
    drafts = (
        each for each in shown.group.words if metrics.horizontalAdvance(each) <= place.width()
    )
    cut = metrics.elidedText(shown.group.words[-1], Qt.TextElideMode.ElideRight, place.width())
    painter.drawText(place, _LEFT, next(drafts, cut))


def _paint_offset(
    painter: QPainter,
    scene: StripScene,
    shown: ShownGroup,
    top: float,
    free: tuple[float, float],
    more: str = "",
) -> None:
    """Write the common offset over its marker, or as near as there is room."""
    at = scene.layout.x_of(shown.place, shown.common_offset, scene.sight)
    if at < scene.layout.gutter - 1 or at > scene.layout.width:
        return
    words = f"offset {shown.common_offset}{more}"
    width = QFontMetricsF(scene.font).horizontalAdvance(words) + 2
    left = min(max(at - width / 2, free[0]), free[1] - width)
    if left >= free[0] - 1:
        painter.setPen(QColor(scene.palette.text))
        painter.drawText(QRectF(left, top, width, TITLE_HEIGHT), _CENTRE, words)


def _paint_ruler(painter: QPainter, scene: StripScene, shown: ShownGroup, top: float) -> None:
    palette, layout, place = scene.palette, scene.layout, shown.place
    scale = layout.scale(place, scene.sight)
    step = tick_step(LABEL_DISTANCE / scale)
    minor = max(1, step // 5)
    bottom = top + RULER_HEIGHT
    first = max(0.0, layout.slot_at(place, layout.gutter, scene.sight))
    last = min(place.slots, layout.slot_at(place, layout.width, scene.sight))
    lines: list[QLineF] = []
    taken = _paint_ends(painter, scene, shown, top) if shown.group.words else []
    painter.setPen(QColor(palette.muted_text))
    for slot in range(ceil(first / minor) * minor, floor(last) + 1, minor):
        x = layout.x_of(place, slot, scene.sight)
        is_major = slot % step == 0
        lines.append(QLineF(x, bottom - (4 if is_major else 2), x, bottom - 1))
        if is_major and all(abs(x - other) >= LEAST_DISTANCE for other in taken):
            painter.drawText(QRectF(x - 30, top - 1, 60, RULER_HEIGHT - 3), _CENTRE, str(slot))
    painter.setPen(QPen(QColor(palette.muted_text), 1))
    painter.drawLines(lines)
    at = layout.x_of(place, shown.common_offset, scene.sight)
    exists = any(strip.capacity for strip in shown.group.strips)
    if exists and layout.gutter - 1 <= at <= layout.width:
        draw_pointer(painter, QPointF(at, bottom - 1), palette.text)


def _paint_ends(painter: QPainter, scene: StripScene, shown: ShownGroup, top: float) -> list[float]:
    """Write offset and capacity among the numbers of the axis; where they stand."""
    layout, place = scene.layout, shown.place
    capacity = max((strip.capacity for strip in shown.group.strips), default=0)
    bold = painter.font()
    bold.setBold(True)
    painter.setFont(bold)
    painter.setPen(QColor(scene.palette.text))
    taken: list[float] = []
    for slot in (shown.common_offset, capacity) if capacity else ():
        x = layout.x_of(place, slot, scene.sight)
        if layout.gutter - 1 <= x <= layout.width and all(
            abs(x - o) >= LEAST_DISTANCE for o in taken
        ):
            painter.drawText(QRectF(x - 30, top - 1, 60, RULER_HEIGHT - 3), _CENTRE, str(slot))
            taken.append(x)
    painter.setFont(scene.font)
    return taken
