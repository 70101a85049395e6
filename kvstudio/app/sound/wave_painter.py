"""Paints the waveform: the extremes behind each pixel, or the samples themselves when near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from kvstudio.app.band_image import band_image, coverage, joined
from kvstudio.app.curve import draw_curve
from kvstudio.app.painting.role_look import looks
from kvstudio.app.painting.strips import PaintedRole
from kvstudio.app.painting.words import draw_word, fitting_word
from kvstudio.app.sound.envelope import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QImage

    from kvstudio.app.sound.envelope import Columns
    from kvstudio.app.sound.scene import SoundScene

LINE_ABOVE = 0.7
"""Pixels per sample from which on the samples are joined by a line."""

DOTS_ABOVE = 5.0
NARROWEST_NAN = 3.0
CLIP_HEIGHT = 3.0
CLIPPED_WORD = "clipped"


def paint_wave(painter: QPainter, scene: SoundScene) -> None:
    """The waveform, with NaN and clipping marked, over its lines of level."""
    rect = scene.layout.wave
    _paint_level_lines(painter, scene)
    if not len(scene.track):
        return
    painter.save()
    painter.setClipRect(rect)
    columns = shown_columns(scene)
    if scene.pixels_per_sample < LINE_ABOVE:
        painter.drawImage(rect, _wave_image(scene, columns))
    else:
        _paint_samples(painter, scene)
    _paint_clipping(painter, scene, columns)
    _paint_nan(painter, scene, columns)
    painter.restore()


def shown_columns(scene: SoundScene) -> Columns:
    """One column for each device pixel, or for each sample if there are fewer of those."""
    width = round(scene.layout.wave.width() * scene.ratio)
    first, last = scene.axis.first, scene.axis.last
    rate = scene.track.sample_rate
    if (last - first) * rate >= width:
        return scene.track.envelope.columns(scene.axis.edges(width) * rate)
    edges = np.arange(np.floor(first * rate), np.ceil(last * rate) + 1)
    return scene.track.envelope.columns(edges)


def _wave_image(scene: SoundScene, columns: Columns) -> QImage:
    height = max(1, round(scene.layout.wave.height() * scene.ratio))
    low, high = joined(columns.low, columns.high)
    covered = coverage((low / scene.limit + 1) / 2, (high / scene.limit + 1) / 2, height)
    return band_image(covered, scene.palette.waveform)


def _paint_samples(painter: QPainter, scene: SoundScene) -> None:
    """A line from sample to sample, broken at NaN; dots when there is room."""
    first = max(0, int(scene.sample_at(scene.axis.left)) - 1)
    last = int(scene.sample_at(scene.axis.left + scene.axis.width)) + 2
    shown = scene.track.samples[first:last].astype(np.float64)
    rect = scene.layout.wave
    places = np.arange(first, first + len(shown), dtype=np.float64) + 0.5
    x = scene.x_of_sample(0) + places * scene.pixels_per_sample
    y = rect.center().y() - np.clip(shown / scene.limit, -1, 1) * (rect.height() - 2) / 2
    dots = scene.pixels_per_sample >= DOTS_ABOVE
    draw_curve(painter, x, y, scene.palette.waveform, dots=dots)


def _paint_level_lines(painter: QPainter, scene: SoundScene) -> None:
    rect = scene.layout.wave
    painter.setPen(QPen(QColor(scene.palette.grid), 1))
    middle = round(rect.center().y())
    painter.drawLine(QLineF(rect.left(), middle, rect.right(), middle))


def _paint_clipping(painter: QPainter, scene: SoundScene, columns: Columns) -> None:
    """A bar along the upper and lower edge, and the word for it where there is room."""
    rect, color = scene.layout.wave, scene.palette.error
    for x1, x2 in _bands(scene, columns, Trouble.CLIPPED):
        middle, half = (x1 + x2) / 2, max(x2 - x1, 2.0) / 2
        for top in (rect.top(), rect.bottom() - CLIP_HEIGHT):
            painter.fillRect(QRectF(middle - half, top, 2 * half, CLIP_HEIGHT), QColor(color))
        _paint_flag(painter, QPointF(middle, rect.top() + CLIP_HEIGHT), color)
        room = QRectF(x1, rect.top() + CLIP_HEIGHT + 4, x2 - x1, 16)
        if fitting_word(room, (CLIPPED_WORD,), painter.font()):
            draw_word(painter, room, CLIPPED_WORD, color, scene.palette.background)


def _paint_nan(painter: QPainter, scene: SoundScene, columns: Columns) -> None:
    """The look that NaN has everywhere, over the full height."""
    rect, palette = scene.layout.wave, scene.palette
    look = looks(palette)[PaintedRole.NAN]
    for x1, x2 in _bands(scene, columns, Trouble.NAN):
        missing = max(0.0, NARROWEST_NAN - (x2 - x1)) / 2
        band = QRectF(x1 - missing, rect.top(), x2 - x1 + 2 * missing, rect.height())
        painter.fillRect(band, look.brush(scene.ratio))
        if word := fitting_word(band, ("NaN",), painter.font()):
            draw_word(painter, band, word, palette.nan, palette.background)


def _paint_flag(painter: QPainter, tip: QPointF, color: str) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    x, y = tip.x(), tip.y()
    painter.drawPolygon(QPolygonF([QPointF(x - 4, y), QPointF(x + 4, y), QPointF(x, y + 5)]))


def _bands(scene: SoundScene, columns: Columns, trouble: Trouble) -> Iterator[tuple[float, float]]:
    """Left and right of every run of columns that have a trouble."""
    flags = (columns.trouble & trouble) != 0
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    rect, count = scene.layout.wave, len(flags)
    if scene.axis.span * scene.track.sample_rate >= count:
        places = rect.left() + edges * rect.width() / count
    else:  # a column for each sample
        first = np.floor(scene.axis.first * scene.track.sample_rate)
        places = scene.x_of_sample(0) + (edges + first) * scene.pixels_per_sample
    yield from zip(places[::2].tolist(), places[1::2].tolist(), strict=True)
