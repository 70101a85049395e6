"""Paints what surrounds a sound: frame numbers, frame and chunk boundaries, seconds, levels."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from kvstudio.app.painting.strip_layout import tick_step
from kvstudio.app.painting.words import word_size
from kvstudio.app.sound.time_axis import round_step, second_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kvstudio.app.sound.scene import SoundScene

EVERY_EDGE_FROM = 6.0
"""Pixels per frame from which on every boundary has its line."""

SECONDS_DISTANCE = 70.0
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter


def paint_grid(painter: QPainter, scene: SoundScene) -> None:
    """Lines between frames, stronger ones between chunks."""
    plots, palette = scene.layout.plots, scene.palette
    places, shown, step = _frames_in_view(scene)
    edges = places[:-1][shown % step == 0] if step > 1 else places
    painter.setPen(QPen(QColor(palette.grid), 1))
    painter.drawLines([QLineF(x, plots.top(), x, plots.bottom()) for x in np.rint(edges).tolist()])
    painter.setPen(QPen(QColor(palette.muted_text), 1, Qt.PenStyle.DashLine))
    for sample, _ in scene.track.chunk_starts[1:]:
        x = round(scene.x_of_sample(sample))
        if plots.left() <= x <= plots.right():
            painter.drawLine(QLineF(x, scene.layout.ruler.top(), x, plots.bottom()))


def paint_frame_numbers(painter: QPainter, scene: SoundScene) -> None:
    """The numbers of the frames above them; where chunks begin, the chunk's as well."""
    ruler, palette = scene.layout.ruler, scene.palette
    taken = _paint_chunk_names(painter, scene)
    places, shown, _ = _frames_in_view(scene)
    step = _label_step(scene)
    painter.setPen(QColor(palette.muted_text))
    for place in np.flatnonzero(shown % step == 0).tolist():
        # In the middle of what can be seen of the frame.
        left = max(places[place], ruler.left())
        right = min(places[place + 1], ruler.right())
        number = str(shown[place])
        width = word_size(number, scene.font).width()
        x = left + max(0.0, (right - left - width) / 2)
        box = QRectF(x, ruler.top(), width, ruler.height())
        if x + width <= ruler.right() and x >= ruler.left() and not _meets(box, taken):
            painter.drawText(box, CENTRE, number)


def paint_seconds(painter: QPainter, scene: SoundScene) -> None:
    box, axis, palette = scene.layout.seconds, scene.axis, scene.palette
    step = round_step(SECONDS_DISTANCE / axis.pixels_per_second)
    painter.setPen(QPen(QColor(palette.border), 1))
    painter.drawLine(QLineF(box.left(), box.top() + 0.5, box.right(), box.top() + 0.5))
    for number in range(ceil(axis.first / step - 1e-9), int(axis.last / step + 1e-9) + 1):
        x = round(axis.x_of(number * step))
        painter.setPen(QPen(QColor(palette.muted_text), 1))
        painter.drawLine(QLineF(x, box.top() + 1, x, box.top() + 4))
        words = second_words(number * step, step)
        width = word_size(words, scene.font).width()
        left = min(max(x - width / 2, box.left() - 8), box.right() + 6 - width)
        painter.drawText(QRectF(left, box.top() + 3, width, box.height() - 3), CENTRE, words)


def paint_wave_levels(painter: QPainter, scene: SoundScene) -> None:
    """The level at the top, in the middle and at the bottom of the waveform."""
    rect = scene.layout.wave
    height = QFontMetricsF(scene.font).height()
    labels = [(rect.top() + height / 2 - 1, f"{scene.limit:g}")]
    if rect.height() >= 2 * height:
        labels.append((rect.bottom() - height / 2 + 1, f"\N{MINUS SIGN}{scene.limit:g}"))
    if rect.height() >= 3.5 * height:
        labels.append((rect.center().y(), "0"))
    painter.setPen(QColor(scene.palette.muted_text))
    for middle, words in labels:
        place = QRectF(0, middle - height / 2, rect.left() - 6, height)
        painter.drawText(place, RIGHT, words)


def _paint_chunk_names(painter: QPainter, scene: SoundScene) -> list[QRectF]:
    """Names where there is more than one chunk; where they lie."""
    ruler, taken = scene.layout.ruler, list[QRectF]()
    if len(scene.track.chunk_starts) < 2:
        return taken
    painter.setPen(QColor(scene.palette.text))
    for sample, chunk in scene.track.chunk_starts:
        words = f"chunk {chunk + 1}"
        x = scene.x_of_sample(sample)
        box = QRectF(x + 1, ruler.top(), word_size(words, scene.font).width(), ruler.height())
        if ruler.left() <= box.left() and box.right() <= ruler.right() and not _meets(box, taken):
            painter.drawText(box, CENTRE, words)
            taken.append(box)
    return taken


def _meets(box: QRectF, others: list[QRectF]) -> bool:
    return any(box.intersects(other) for other in others)


def _frames_in_view(scene: SoundScene) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """The frames in view: where they begin and the last one ends, their ids, lines every n-th."""
    track, axis = scene.track, scene.axis
    edges = track.edges
    if len(edges) < 2:
        return np.empty(0), np.empty(0, np.int64), 1
    first = max(0, int(np.searchsorted(edges, axis.first * track.sample_rate, "right")) - 1)
    last = int(np.searchsorted(edges, axis.last * track.sample_rate, "left"))
    last = min(max(last, first + 1), len(edges) - 1)
    places = axis.left + (edges[first : last + 1] / track.sample_rate - axis.first) * (
        axis.pixels_per_second
    )
    step = 1 if _frame_width(scene) >= EVERY_EDGE_FROM else _label_step(scene)
    return places, track.frames[first:last], step


def _frame_width(scene: SoundScene) -> float:
    edges = scene.track.edges
    frames = max(1, len(edges) - 1)
    return float(edges[-1] / frames * scene.pixels_per_sample)


def _label_step(scene: SoundScene) -> int:
    """Every how manieth frame has its number: 1, 2, 5, 10 ..."""
    last = int(scene.track.frames[-1]) if len(scene.track.frames) else 0
    widest = word_size(str(last), scene.font).width() + 4
    return tick_step(widest / max(_frame_width(scene), 1e-9))
