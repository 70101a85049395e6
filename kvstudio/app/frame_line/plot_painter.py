"""Paints what runs below the cells: the stop logit against its threshold, and times per frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen, QPolygonF, qRgba

from kvstudio.app.band_image import band_image, coverage, curve_bands
from kvstudio.app.curve import LINE, draw_curve
from kvstudio.app.frame_line.cell_painter import per_pixel
from kvstudio.app.frame_line.words import FRAME_MS, number_words
from kvstudio.app.painting.role_look import looks
from kvstudio.app.painting.strips import PaintedRole
from kvstudio.app.painting.words import draw_word, fitting_word, word_size
from kvstudio.app.theme import ink_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kvstudio.app.frame_line.scene import LineScene

DOTS_FROM = 9.0
NARROWEST_NAN = 3.0
EOS_WORD = "EOS"
NAME = "stop logit"
ROOM_FOR_NAME = 2.2
"""Lines of text that the plot must be high for one to be spent on its name."""

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def paint_plot(painter: QPainter, scene: LineScene) -> None:
    """The logit as a curve, the threshold as a dashed line, EOS and NaN marked with a word."""
    plot, palette = scene.layout.plot, scene.palette
    painter.fillRect(plot, QColor(palette.background))
    painter.save()
    painter.setClipRect(plot)
    _paint_name(painter, scene)
    _paint_nan(painter, scene)
    _paint_threshold(painter, scene)
    _paint_curve(painter, scene)
    _paint_eos(painter, scene)
    painter.restore()
    _paint_scale(painter, scene)


def paint_times(painter: QPainter, scene: LineScene) -> None:
    """A bar for each frame, FlowLM below and Mimi above, against the 80 ms it speaks for."""
    row, palette = scene.layout.times, scene.palette
    if not row.height():
        return
    painter.fillRect(row, QColor(palette.background))
    most = _most_ms(scene)
    image = _times_image(scene, most)
    if image is not None:
        width = image.width() / scene.ratio
        painter.drawImage(QRectF(row.left(), row.top(), width, row.height()), image)
    y = round(row.bottom() - FRAME_MS / most * row.height())
    painter.setPen(QPen(QColor(palette.muted_text), 1, Qt.PenStyle.DotLine))
    painter.drawLine(QLineF(row.left(), y, row.right(), y))
    painter.setPen(QColor(palette.muted_text))
    height = QFontMetricsF(scene.font).height()
    middle = min(max(y, row.top() + height / 2 - 2), row.bottom() - height / 2)
    place = QRectF(0, middle - height / 2, row.left() - 6, height)
    painter.drawText(place, RIGHT, f"{FRAME_MS:.0f} ms")


def _paint_name(painter: QPainter, scene: LineScene) -> None:
    """What the curve is, in a corner and below everything."""
    plot = scene.layout.plot
    height = QFontMetricsF(scene.font).height()
    if plot.height() < ROOM_FOR_NAME * height:
        return
    painter.setPen(QColor(scene.palette.muted_text))
    place = QRectF(plot.left() + 6, plot.top() + 2, plot.width(), height)
    painter.drawText(place, LEFT, NAME)


def _paint_threshold(painter: QPainter, scene: LineScene) -> None:
    """One dashed line for each stretch of frames that have the same threshold."""
    thresholds = scene.track.thresholds
    known = np.flatnonzero(np.isfinite(thresholds))
    if not known.size:
        return
    painter.setPen(QPen(QColor(scene.palette.threshold), 1.3, Qt.PenStyle.DashLine))
    numbers = thresholds[known]
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    ends = [*known[starts[1:]].tolist(), len(thresholds)]
    for place, end in zip(starts.tolist(), ends, strict=True):
        y = round(scene.y_of_logit(float(numbers[place])))
        painter.drawLine(QLineF(scene.x_of(int(known[place])), y, scene.x_of(end), y))


def _paint_curve(painter: QPainter, scene: LineScene) -> None:
    first = max(0, scene.shown.start - 1)
    logits = scene.track.logits[first : scene.shown.stop + 1].astype(np.float64)
    frames = np.arange(first, first + len(logits), dtype=np.float64) + 0.5
    x = (frames - scene.first) * scene.cell
    low, high = scene.logit_range
    share = (np.clip(logits, low, high) - low) / (high - low)
    plot, color = scene.layout.plot, scene.palette.eos_logit
    if scene.cell >= DOTS_FROM:
        draw_curve(
            painter, plot.left() + x, plot.bottom() - share * plot.height(), color, dots=True
        )
    elif len(logits):
        width, height = (round(side * scene.ratio) for side in (plot.width(), plot.height()))
        bands = curve_bands(x * scene.ratio, share, max(1, width))
        covered = coverage(*bands, max(2, height), LINE * scene.ratio)
        painter.drawImage(plot, band_image(covered, color))


def _paint_nan(painter: QPainter, scene: LineScene) -> None:
    lacking = scene.track.lacks_number
    edges = np.flatnonzero(np.diff(lacking, prepend=False, append=False))
    plot, palette = scene.layout.plot, scene.palette
    look = looks(palette)[PaintedRole.NAN]
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        left, right = scene.x_of(first), scene.x_of(end)
        missing = max(0.0, NARROWEST_NAN - (right - left)) / 2
        band = QRectF(left - missing, plot.top(), right - left + 2 * missing, plot.height())
        band = band.intersected(plot)
        if band.isEmpty():
            continue
        painter.fillRect(band, look.brush(scene.ratio))
        if word := fitting_word(band, ("NaN",), scene.font):
            draw_word(painter, band, word, palette.nan, palette.background)


def _paint_eos(painter: QPainter, scene: LineScene) -> None:
    """A line down from the frame and a flag with the word, left of it if there is no room."""
    plot, color = scene.layout.plot, scene.palette.eos_logit
    size = word_size(EOS_WORD, scene.font)
    for frame in scene.track.first_eos:
        x = round(scene.x_of(frame + 0.5))
        if not plot.left() <= x <= plot.right():
            continue
        painter.setPen(QPen(QColor(color), 1.5))
        painter.drawLine(QLineF(x, plot.top(), x, plot.bottom()))
        leftward = x + size.width() + 8 > plot.right()
        left = x - size.width() - 6 if leftward else x
        flag = QRectF(left, plot.top(), size.width() + 6, min(size.height(), plot.height()))
        _paint_flag(painter, flag, color, leftward=leftward)
        draw_word(painter, flag, EOS_WORD, ink_on(color))


def _paint_flag(painter: QPainter, flag: QRectF, color: str, *, leftward: bool) -> None:
    """A rectangle with a notch at the end that flies."""
    mast, end = (flag.right(), flag.left()) if leftward else (flag.left(), flag.right())
    notch = end + (4 if leftward else -4)
    corners = [
        QPointF(mast, flag.top()),
        QPointF(end, flag.top()),
        QPointF(notch, flag.center().y()),
        QPointF(end, flag.bottom()),
        QPointF(mast, flag.bottom()),
    ]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.drawPolygon(QPolygonF(corners))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_scale(painter: QPainter, scene: LineScene) -> None:
    """Numbers at the left: highest, lowest, and the threshold in its own colour."""
    plot, palette = scene.layout.plot, scene.palette
    height = QFontMetricsF(scene.font).height()
    finite = scene.track.logits[np.isfinite(scene.track.logits)]
    thresholds = scene.track.thresholds[np.isfinite(scene.track.thresholds)]
    labels = [(float(number), palette.threshold) for number in thresholds[-1:]]
    if finite.size:
        labels += [(float(n), palette.muted_text) for n in (finite.max(), finite.min())]
    taken: list[float] = []
    for number, color in labels:
        y = scene.y_of_logit(number)
        y = min(max(y, plot.top() + height / 2 - 2), plot.bottom() - height / 2 + 2)
        if all(abs(y - other) >= height - 2 for other in taken):
            taken.append(y)
            painter.setPen(QColor(color))
            place = QRectF(0, y - height / 2, plot.left() - 6, height)
            painter.drawText(place, RIGHT, number_words(number))


def _most_ms(scene: LineScene) -> float:
    """The top of the bars: a little over 80 ms, more if most frames are slower."""
    total = scene.track.times.sum(axis=1)
    usual = float(np.percentile(total, 95)) if total.size else 0.0
    return max(FRAME_MS * 1.2, usual * 1.1)


def _times_image(scene: LineScene, most: float) -> QImage | None:
    """Bars as codes: 0 nothing, 1 FlowLM, 2 Mimi, 3 a frame that took longer than it speaks."""
    times = scene.track.times
    flow = per_pixel(np.ascontiguousarray(times[:, 0]), scene)
    total = per_pixel(times.sum(axis=1), scene)
    if not total.size:
        return None
    width, height = total.size, max(1, round(scene.layout.times.height() * scene.ratio))
    rows = (np.arange(height, 0, -1) - 0.5)[:, None] * (most / height)
    codes = np.where(rows <= flow, 1, np.where(rows <= total, 2, 0)).astype(np.uint8)
    codes[:, total > FRAME_MS] = np.where(rows <= total[total > FRAME_MS], 3, 0)
    _clear_gaps(codes, scene)
    image = QImage(codes.data, width, height, width, QImage.Format.Format_Indexed8)
    palette = scene.palette
    colors = [QColor(name) for name in (palette.generated, palette.voice, palette.warning)]
    table = [qRgba(each.red(), each.green(), each.blue(), 255) for each in colors]
    image.setColorTable([0, *table])
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def _clear_gaps(codes: NDArray[np.uint8], scene: LineScene) -> None:
    """A pixel free between bars that are wide."""
    if scene.cell >= 4:
        places = scene.first + np.arange(codes.shape[1] + 1) / (scene.cell * scene.ratio)
        codes[:, np.diff(places.astype(np.intp)) > 0] = 0
