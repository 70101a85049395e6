"""Paints the spectrogram through a table of 256 colours: quiet is the ground, loud stands out."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, qRgb

from kvstudio.app.codes import Code
from kvstudio.app.painting.role_look import looks
from kvstudio.app.painting.strips import PaintedRole
from kvstudio.app.spectrogram import hop_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kvstudio.app.sound.level_picture import LevelPicture
    from kvstudio.app.sound.scene import SoundScene
    from kvstudio.app.theme import Palette

LABEL_HEIGHT = 14.0
DARK_STEPS = ("#14171c", "#1b3550", "#2a6f9e", "#56b4e9", "#f5d76e", "#fff6dc")
LIGHT_STEPS = ("#ffffff", "#d5e6f2", "#8fbede", "#2d7cb0", "#0b3f66", "#001a2e")


def paint_levels(painter: QPainter, scene: SoundScene, levels: LevelPicture) -> None:
    """The columns made so far, at their place on the time axis; NaN hatched as everywhere."""
    rect = scene.layout.levels
    per_second = scene.track.sample_rate / hop_samples(scene.track.sample_rate)
    width = round(rect.width() * scene.ratio)
    painter.save()
    painter.setClipRect(rect)
    if scene.axis.span * per_second >= width:
        # Column c is centred on c hops.
        edges = scene.axis.edges(width) * per_second + 0.5
        height = min(max(1, round(rect.height() * scene.ratio)), levels.codes.shape[1])
        codes, target = levels.shrunk(edges, height), rect
    else:
        codes, target = _near_columns(scene, levels, per_second)
    if codes.size:
        _paint_codes(painter, scene, codes, target)
    painter.restore()


def _near_columns(
    scene: SoundScene, levels: LevelPicture, per_second: float
) -> tuple[NDArray[np.uint8], QRectF]:
    """The columns in view as they are, and where they lie."""
    first = max(0, floor(scene.axis.first * per_second))
    last = min(len(levels), ceil(scene.axis.last * per_second) + 1)
    left = scene.axis.x_of((first - 0.5) / per_second)
    right = scene.axis.x_of((last - 0.5) / per_second)
    rect = scene.layout.levels
    return levels.window(first, last), QRectF(left, rect.top(), right - left, rect.height())


def _paint_codes(
    painter: QPainter, scene: SoundScene, codes: NDArray[np.uint8], target: QRectF
) -> None:
    kept = np.ascontiguousarray(codes)
    height, width = kept.shape
    image = QImage(kept.data, width, height, width, QImage.Format.Format_Indexed8)
    image.setColorTable(level_table(scene.palette))
    smooth = image.convertToFormat(QImage.Format.Format_RGB32)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, width < target.width())
    painter.drawImage(target, smooth)
    hatch = looks(scene.palette)[PaintedRole.NAN].brush(scene.ratio)
    edges = np.flatnonzero(np.diff(kept[-1] == Code.NAN, prepend=False, append=False))
    places = (target.left() + edges * target.width() / width).tolist()
    for x1, x2 in zip(places[::2], places[1::2], strict=True):
        painter.fillRect(QRectF(x1, target.top(), x2 - x1, target.height()), hatch)


@lru_cache(maxsize=8)
def level_table(palette: Palette) -> list[int]:
    """A colour for every code, from silence to full scale."""
    steps = DARK_STEPS if palette.is_dark else LIGHT_STEPS
    stops = np.array([_rgb(step) for step in steps], np.float64)
    share = (np.arange(256) - Code.LOWEST) / (Code.HIGHEST - Code.LOWEST)
    at = np.linspace(0, 1, len(steps))
    table = np.stack([np.interp(share, at, stops[:, channel]) for channel in range(3)], axis=1)
    table[Code.NAN] = _rgb(palette.nan)
    return [qRgb(*entry) for entry in np.rint(table).astype(int).tolist()]


def _rgb(name: str) -> tuple[int, int, int]:
    color = QColor(name)
    return color.red(), color.green(), color.blue()


def paint_frequencies(painter: QPainter, scene: SoundScene) -> None:
    """The frequencies at the left margin, as many as there is room for."""
    rect = scene.layout.levels
    top_khz = scene.track.sample_rate / 2_000
    labels = [(1.0, f"{top_khz:g} kHz"), (0.0, "0")]
    if rect.height() >= 4 * LABEL_HEIGHT:
        labels.append((0.5, f"{top_khz / 2:g}"))
    if rect.height() < 2 * LABEL_HEIGHT:
        labels = [(0.5, f"{top_khz:g} kHz")]
    painter.setPen(QColor(scene.palette.muted_text))
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for share, words in labels:
        middle = rect.bottom() - share * rect.height()
        middle = min(max(middle, rect.top() + 6), rect.bottom() - 6)
        place = QRectF(0, middle - LABEL_HEIGHT / 2, rect.left() - 6, LABEL_HEIGHT)
        painter.drawText(place, right, words)
