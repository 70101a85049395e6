"""Paints the strips of a slot map: runs of roles, their words, offsets and capacities."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from kvstudio.app.painting.role_look import draw_glyph, looks, narrow_colors
from kvstudio.app.painting.strip_layout import STRIP_GAP
from kvstudio.app.painting.strip_runs import LOUD, Run, pixel_roles, runs
from kvstudio.app.painting.strips import PaintedRole
from kvstudio.app.painting.words import draw_word, fitting_word
from kvstudio.app.theme import ink_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvstudio.app.painting.strip_scene import ShownGroup, StripScene
    from kvstudio.app.painting.strips import SlotRoles, Strip

NARROWEST_PATTERN = 4.0
NARROWEST_WORD = 22.0
LEAST_LOUD_WIDTH = 3.0
WIDEST_GLYPH_RUN = 14.0
GLYPH = 8.0
MOST_GLYPHS = 200
MOST_WORDED_ROWS = 8
"""Groups of more layers say a word once for neighbours that are alike, not in every row."""


def paint_group(painter: QPainter, scene: StripScene, shown: ShownGroup, height: float) -> None:
    """Paint the rows of one group that lie between 0 and `height`."""
    layers = shown.layers_in(0.0, height, scene.sight)
    if not layers:
        return
    seen = shown.roles[layers.start : layers.stop]
    pixels = _pixels(scene, shown, seen)
    _paint_colors(painter, scene, shown, layers.start, pixels)
    for run in runs(pixels, ceil(NARROWEST_PATTERN * scene.ratio)):
        look = looks(scene.palette)[run.role]
        least = WIDEST_GLYPH_RUN * scene.ratio if look.glyph else 0.0
        if look.pattern is not None and run.end - run.first >= least:
            rect = _pixel_rect(scene, shown, layers.start, run)
            painter.fillRect(rect, look.brush(scene.ratio))
    _paint_glyphs(painter, scene, shown, layers.start, pixels)
    _paint_words(painter, scene, shown, layers.start, seen)
    _paint_ends(painter, scene, shown, layers)


def _pixels(scene: StripScene, shown: ShownGroup, roles: SlotRoles) -> SlotRoles:
    """Roles by device pixel, from the left edge of the plot."""
    layout, ratio = scene.layout, scene.ratio
    first = layout.slot_at(shown.place, layout.gutter, scene.sight)
    per_pixel = 1 / (layout.scale(shown.place, scene.sight) * ratio)
    width = ceil((layout.width - layout.gutter) * ratio)
    return pixel_roles(roles, first, per_pixel, width, ceil(LEAST_LOUD_WIDTH * ratio))


def _paint_colors(
    painter: QPainter, scene: StripScene, shown: ShownGroup, first: int, pixels: SlotRoles
) -> None:
    """Every row as a picture one pixel high, stretched: the price does not depend on the runs."""
    colors = narrow_colors(scene.palette)[pixels]
    rows, width = colors.shape
    image = QImage(colors.data, width, rows, 4 * width, QImage.Format.Format_RGB32)
    for row in range(rows):
        target = _pixel_rect(scene, shown, first, Run(row, 0, width, 0))
        painter.drawImage(target, image, QRectF(0, row, width, 1))


def _pixel_rect(scene: StripScene, shown: ShownGroup, first: int, run: Run) -> QRectF:
    """The rectangle of a run of device pixels; `first` is the layer of row 0."""
    place = shown.place
    top = place.rows_top + (first + run.row) * place.row_height - scene.sight.top
    left = scene.layout.gutter + run.first / scene.ratio
    width = (run.end - run.first) / scene.ratio
    return QRectF(left, top, width, place.row_height - STRIP_GAP)


def _paint_glyphs(
    painter: QPainter, scene: StripScene, shown: ShownGroup, first: int, pixels: SlotRoles
) -> None:
    loud = np.where(np.isin(pixels, LOUD), pixels, np.uint8(PaintedRole.NOTHING))
    narrow = [run for run in runs(loud) if run.end - run.first < WIDEST_GLYPH_RUN * scene.ratio]
    if not narrow or len(narrow) > MOST_GLYPHS:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for run in narrow:
        centre = _pixel_rect(scene, shown, first, run).center()
        draw_glyph(painter, looks(scene.palette)[run.role], centre, GLYPH)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_words(
    painter: QPainter, scene: StripScene, shown: ShownGroup, first: int, roles: SlotRoles
) -> None:
    layout, place = scene.layout, shown.place
    scale = layout.scale(place, scene.sight)
    wordy = runs(roles, max(1, ceil(NARROWEST_WORD / scale)))
    for run, rows in _blocks(wordy, every_row=place.layers <= MOST_WORDED_ROWS):
        layer = place.first_layer + first + run.row
        rect = layout.slots_rect(layer, run.first, run.end, scene.sight)
        rect.setBottom(rect.bottom() + (rows - 1) * place.row_height)
        rect.setLeft(max(rect.left(), layout.gutter))
        rect.setRight(min(rect.right(), layout.width))
        strip = shown.group.strips[first + run.row]
        look = looks(scene.palette)[run.role]
        ink, ground = _word_colors(scene, run.role)
        if look.pattern is None and rows == 1:
            ground = ""
        word = fitting_word(rect, _words(run, strip), scene.font)
        if word is not None:
            draw_word(painter, rect, word, ink, ground)


def _word_colors(scene: StripScene, role: int) -> tuple[str, str]:
    """Ink and ground of a word on a role."""
    if role == PaintedRole.UNWRITTEN:
        return scene.palette.muted_text, scene.palette.unwritten
    ground = looks(scene.palette)[role].color
    return ink_on(ground), ground


def _words(run: Run, strip: Strip) -> tuple[str, ...]:
    """What can be written on a run, the most telling first."""
    role = PaintedRole(run.role)
    if role is PaintedRole.UNWRITTEN:
        return f"{role.word} ({strip.fill})", role.word
    count = run.end - run.first
    if role is PaintedRole.GENERATED:
        return f"{role.word} {count}", f"gen {count}"
    return f"{role.word} {count}", role.word


def _blocks(wordy: list[Run], *, every_row: bool) -> Iterator[tuple[Run, int]]:
    """Runs that lie alike in neighbouring rows, as (the topmost, number of rows)."""
    heights: dict[Run, int] = {}
    tops: dict[tuple[int, int, int], Run] = {}
    for run in wordy:
        shape = run.first, run.end, run.role
        above = tops.get(shape)
        if not every_row and above is not None and above.row + heights[above] == run.row:
            heights[above] += 1
        else:
            tops[shape] = run
            heights[run] = 1
    return iter(heights.items())


def _paint_ends(painter: QPainter, scene: StripScene, shown: ShownGroup, layers: range) -> None:
    """The offset as a line with a triangle, the capacity as the end of the strip."""
    palette, layout, place = scene.palette, scene.layout, shown.place
    origin, scale = layout.x_of(place, 0, scene.sight), layout.scale(place, scene.sight)
    offsets: dict[str, list[QLineF]] = {palette.text: [], palette.error: []}
    capacities: list[QLineF] = []
    for layer in layers:
        strip = shown.group.strips[layer]
        if not strip.capacity:
            continue
        top = place.rows_top + layer * place.row_height - scene.sight.top
        bottom = top + place.row_height - STRIP_GAP
        end = origin + strip.capacity * scale
        at = origin + strip.offset * scale
        if end >= layout.gutter:
            capacities.append(QLineF(end, top, end, bottom))
        if at >= layout.gutter:
            color = palette.text if strip.offset == shown.common_offset else palette.error
            joined = STRIP_GAP if layer + 1 < place.layers else 0.0
            offsets[color].append(QLineF(at, top, at, bottom + joined))
    painter.setPen(QPen(QColor(palette.muted_text), 2))
    painter.drawLines(capacities)
    for color, lines in offsets.items():
        painter.setPen(QPen(QColor(color), 1.5))
        painter.drawLines(lines)
    for line in offsets[palette.error]:
        draw_pointer(painter, line.p1(), palette.error)


def draw_pointer(painter: QPainter, tip: QPointF, color: str, size: float = 4.5) -> None:
    """A triangle that points down; its tip lies a little below the point."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    x, y = tip.x(), tip.y() + 2
    corners = [QPointF(x - size, y - size * 1.3), QPointF(x + size, y - size * 1.3), QPointF(x, y)]
    painter.drawPolygon(QPolygonF(corners))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
