"""Paints the frames as cells: one by one where they are wide, as bands of colour where not."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen, QPolygonF, qRgb

from kvstudio.app.frame_line.scene import WIDE_CELL
from kvstudio.app.frame_line.track import CellKind
from kvstudio.app.frame_line.words import cell_words, shortened
from kvstudio.app.painting.strip_layout import tick_step
from kvstudio.app.painting.words import fitting_word
from kvstudio.app.theme import Palette, ink_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kvstudio.app.frame_line.scene import LineScene

RADIUS = 3.0
BAND_SPACING = 1.3
CELL_GAP = 1.5
CENTRE = Qt.AlignmentFlag.AlignCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@lru_cache(maxsize=8)
def cell_colors(palette: Palette) -> dict[CellKind, str]:
    return {
        CellKind.DECODE: palette.generated,
        CellKind.TEXT: palette.text_slot,
        CellKind.VOICE: palette.voice,
        CellKind.PROBLEM: palette.error,
    }


def paint_cells(painter: QPainter, scene: LineScene) -> None:
    if scene.cell >= WIDE_CELL:
        _paint_wide(painter, scene)
    else:
        _paint_band(painter, scene)
    _paint_numbers(painter, scene)
    _paint_problems(painter, scene)


def paint_chunks(painter: QPainter, scene: LineScene) -> None:
    """A band over the frames of each chunk, with its text."""
    row, starts = scene.layout.chunks, scene.track.chunk_starts
    if not row.height():
        return
    ends = [first for first, _ in starts[1:]] + [len(scene.track)]
    metrics = QFontMetricsF(scene.font)
    for (first, chunk), end in zip(starts, ends, strict=True):
        left, right = max(scene.x_of(first), row.left()), min(scene.x_of(end), row.right())
        band = QRectF(left, row.top(), right - left - 1.5, row.height())
        if band.width() <= 0:
            continue
        painter.setPen(QPen(QColor(scene.palette.border), 1))
        painter.setBrush(QColor(scene.palette.raised))
        painter.drawRoundedRect(band.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        inside = band.adjusted(6, 0, -4, 0)
        painter.setPen(QColor(scene.palette.muted_text))
        words = _chunk_words(scene, chunk)
        cut = metrics.elidedText(words, Qt.TextElideMode.ElideRight, inside.width())
        if len(cut) > 1:
            painter.drawText(inside, LEFT, cut)


def per_pixel(values: NDArray[np.float32], scene: LineScene) -> NDArray[np.float32]:
    """The largest value behind every device pixel of the row, as far as there are frames."""
    pixels = max(1, round((scene.right - scene.left) * scene.ratio))
    step = 1 / (scene.cell * scene.ratio)
    edges = (scene.first + np.arange(pixels + 1) * step).astype(np.intp)
    edges = edges[: int(np.searchsorted(edges, len(values)))]
    if step <= 1 or edges.size < 2:
        return values[edges]
    return np.asarray(np.fmax.reduceat(values, edges), np.float32)


def _chunk_words(scene: LineScene, chunk: int) -> str:
    known = scene.chunks.get(chunk)
    text = shortened(known.text, 300) if known is not None else ""
    if len(scene.track.chunk_starts) == 1:
        return text
    return f"chunk {chunk + 1}: {text}"


def _paint_wide(painter: QPainter, scene: LineScene) -> None:
    colors, kinds = cell_colors(scene.palette), scene.track.kinds
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    for kind in CellKind:
        painter.setBrush(QColor(colors[kind]))
        for frame in scene.shown:
            if kinds[frame] == kind:
                rect = scene.cell_rect(frame).adjusted(0, 0, -CELL_GAP, 0)
                painter.drawRoundedRect(rect, RADIUS, RADIUS)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_band(painter: QPainter, scene: LineScene) -> None:
    codes = per_pixel(scene.track.kinds.astype(np.float32), scene).astype(np.uint8)
    if not codes.size:
        return
    image = QImage(codes.data, len(codes), 1, len(codes), QImage.Format.Format_Indexed8)
    colors = cell_colors(scene.palette)
    image.setColorTable([_rgb(colors[kind]) for kind in CellKind])
    cells = scene.layout.cells
    target = QRectF(cells.left(), cells.top(), len(codes) / scene.ratio, cells.height())
    painter.drawImage(target, image)


def _paint_numbers(painter: QPainter, scene: LineScene) -> None:
    """In every cell what it is, if that fits, else the number of every n-th frame."""
    width, is_wide = scene.number_width, scene.cell >= WIDE_CELL
    step = tick_step(
        width / (scene.cell - CELL_GAP) if is_wide else BAND_SPACING * width / scene.cell
    )
    colors, kinds = cell_colors(scene.palette), scene.track.kinds
    shown = np.arange(scene.shown.start, scene.shown.stop)
    for frame in shown[(kinds[shown] != CellKind.DECODE) | (shown % step == 0)].tolist():
        rect = scene.cell_rect(frame).adjusted(0, 0, -CELL_GAP, 0)
        word: str | None = str(frame)
        if kinds[frame] == CellKind.DECODE:
            if step > 1:  # over its neighbours; a band's first pixel is the frame's own
                middle = rect.center().x() if is_wide else rect.left() + width / 2
                rect = QRectF(middle - width / 2, rect.top(), width, rect.height())
        else:
            word = fitting_word(rect, cell_words(scene.track[frame]), scene.font)
        if word is not None and scene.left <= rect.left() and rect.right() <= scene.right:
            painter.setPen(QColor(ink_on(colors[CellKind(kinds[frame])])))
            painter.drawText(rect, CENTRE, word)


def _paint_problems(painter: QPainter, scene: LineScene) -> None:
    """A sign over every frame that ended early, however narrow it is."""
    for frame in scene.track.problems:
        if frame in scene.shown:
            _paint_sign(painter, scene.cell_rect(frame).center(), scene.palette)


def _paint_sign(painter: QPainter, centre: QPointF, palette: Palette) -> None:
    x, y = centre.x(), centre.y() - 0.5
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(palette.background), 1.5))
    painter.setBrush(QColor(palette.error))
    corners = [QPointF(x, y - 8), QPointF(x + 8.5, y + 7), QPointF(x - 8.5, y + 7)]
    painter.drawPolygon(QPolygonF(corners))
    painter.setPen(QPen(QColor(palette.background), 1.8))
    painter.drawLine(QPointF(x, y - 2.5), QPointF(x, y + 1.5))
    painter.drawPoint(QPointF(x, y + 4.6))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _rgb(name: str) -> int:
    color = QColor(name)
    return qRgb(color.red(), color.green(), color.blue())
