"""Paints what moves over a sound: the frame under the cursor, the selection, the playhead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from kvstudio.app.painting.strip_painter import draw_pointer
from kvstudio.app.painting.words import draw_word, word_size

if TYPE_CHECKING:
    from kvstudio.app.sound.scene import SoundScene

FRAME_TINT = 34
SELECTION_TINT = 60
REACH = 7.0
"""How far a playhead reaches to the left and right of its sample."""


@dataclass(frozen=True)
class Overlay:
    """Attributes, all in samples.

    frame: the cursor's frame: id, first sample, one past the last.
    selection: first sample, one past the last.
    playhead: the sample heard now, or where playing would begin.
    """

    frame: tuple[int, int, int] | None = None
    selection: tuple[int, int] | None = None
    playhead: int | None = None


def paint_overlay(painter: QPainter, scene: SoundScene, overlay: Overlay) -> None:
    painter.save()
    visible = scene.layout.plots.united(scene.layout.ruler).adjusted(-REACH, 0, REACH, 0)
    painter.setClipRect(visible, Qt.ClipOperation.IntersectClip)
    if overlay.frame is not None:
        _paint_frame(painter, scene, *overlay.frame)
    if overlay.selection is not None:
        _paint_selection(painter, scene, *overlay.selection)
    if overlay.playhead is not None:
        _paint_playhead(painter, scene, overlay.playhead)
    painter.restore()


def playhead_box(scene: SoundScene, sample: int) -> QRectF:
    """All pixels that a playhead touches."""
    top, bottom = scene.layout.ruler.top(), scene.layout.plots.bottom()
    return QRectF(scene.x_of_sample(sample) - REACH, top, 2 * REACH, bottom - top)


def _between(scene: SoundScene, first: int, last: int) -> QRectF:
    """The plots from one sample to another, as far as they are in view."""
    plots = scene.layout.plots
    left = max(scene.x_of_sample(first), plots.left() - 1)
    right = min(scene.x_of_sample(last), plots.right() + 1)
    return QRectF(left, plots.top(), right - left, plots.height())


def _paint_frame(painter: QPainter, scene: SoundScene, frame: int, first: int, last: int) -> None:
    band, palette = _between(scene, first, last), scene.palette
    if band.width() <= 0:
        return
    tint = QColor(palette.accent)
    tint.setAlpha(FRAME_TINT)
    painter.fillRect(band.adjusted(0, 0, max(0.0, 2.0 - band.width()), 0), tint)
    painter.setPen(QPen(QColor(palette.accent), 1))
    for x in (round(band.left()), round(band.right())):
        painter.drawLine(QLineF(x, band.top(), x, band.bottom()))
    words = str(frame)
    width = word_size(words, scene.font).width() + 4
    ruler = scene.layout.ruler
    left = min(max(band.center().x() - width / 2, ruler.left()), ruler.right() - width)
    plate = QRectF(left, ruler.top() + 1, width, ruler.height() - 2)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(palette.panel), 2))
    painter.setBrush(QColor(palette.accent))
    painter.drawRoundedRect(plate.adjusted(-1, 0, 1, 0), 4, 4)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    draw_word(painter, plate, words, palette.on_accent)


def _paint_selection(painter: QPainter, scene: SoundScene, first: int, last: int) -> None:
    band, palette = _between(scene, first, last), scene.palette
    if band.width() < 0:
        return
    tint = QColor(palette.text)
    tint.setAlpha(SELECTION_TINT // 2)
    painter.fillRect(band, tint)
    painter.setPen(QPen(QColor(palette.text), 1.4))
    for x, inward in ((round(band.left()), 5), (round(band.right()), -5)):
        painter.drawLine(QLineF(x, band.top(), x, band.bottom()))
        for y in (band.top() + 0.5, band.bottom() - 0.5):  # brackets
            painter.drawLine(QLineF(x, y, x + inward, y))


def _paint_playhead(painter: QPainter, scene: SoundScene, sample: int) -> None:
    x = scene.x_of_sample(sample)
    plots, color = scene.layout.plots, scene.palette.playhead
    if not plots.left() - 1 <= x <= plots.right() + 1:
        return
    painter.setPen(QPen(QColor(color), 1.6))
    painter.drawLine(QLineF(x, scene.layout.ruler.bottom() - 3, x, plots.bottom()))
    draw_pointer(painter, QPointF(x, scene.layout.ruler.bottom() - 3), color, 5.0)
