"""Icons of actions and the application icon, drawn as paths on a 24 x 24 grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QIcon,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
    QTransform,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvstudio.app.theme import Palette

IconName = Literal[
    "load", "step", "step_10", "run", "pause", "run_to", "run_to_finding", "stop", "restart",
    "play", "loop", "volume", "mute", "first", "back", "forward", "last",
    "fit", "lock", "symmetric", "stacked", "expansion", "history",
]  # fmt: skip
ICON_NAMES: tuple[IconName, ...] = get_args(IconName)

GRID = 24
_SIZES = (16, 20, 24, 32, 40, 48, 64)
_PRIMARY = {"step", "run"}  # what a user reaches for most; the only two in the accent colour


def icon(name: IconName, palette: Palette) -> QIcon:
    """One icon in every common size, with its disabled look."""
    filled, stroked = _SHAPES[name]()
    result = QIcon()
    normal = palette.accent if name in _PRIMARY else palette.text
    for mode, color in (
        (QIcon.Mode.Normal, normal),
        (QIcon.Mode.Active, normal),
        (QIcon.Mode.Selected, normal),
        (QIcon.Mode.Disabled, palette.disabled_text),
    ):
        for size in _SIZES:
            result.addPixmap(_drawn(filled, stroked, QColor(color), size), mode)
    return result


def application_icon(palette: Palette) -> QIcon:
    """Three strips of slots, filled up to an offset line."""
    result = QIcon()
    for size in (*_SIZES, 128, 256):
        result.addPixmap(_application_pixmap(palette, size))
    return result


def _drawn(filled: QPainterPath, stroked: QPainterPath, color: QColor, size: int) -> QPixmap:
    pixmap, painter = _canvas(size)
    painter.fillPath(filled, color)
    pen = QPen(color, 2.0)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(stroked, pen)
    painter.end()
    return pixmap


def _canvas(size: int) -> tuple[QPixmap, QPainter]:
    pixmap = QPixmap(QSize(size, size))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / GRID, size / GRID)
    return pixmap, painter


def _application_pixmap(palette: Palette, size: int) -> QPixmap:
    pixmap, painter = _canvas(size)
    ground = QLinearGradient(0, 1, 0, 23)
    ground.setColorAt(0, QColor("#2b3440"))
    ground.setColorAt(1, QColor("#161b22"))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(QRectF(1, 1, 22, 22), 5, 5)
    for top in (5.0, 10.0, 15.0):
        for left, width, color in (
            (4.0, 3.6, palette.voice),
            (8.0, 3.6, palette.text_slot),
            (12.0, 3.6, palette.generated),
            (17.0, 3.0, "#434d5b"),
        ):
            painter.fillRect(QRectF(left, top, width, 3.8), QColor(color))
    painter.fillRect(QRectF(15.9, 3.4, 0.9, 17.2), QColor("#f5a03c"))
    painter.end()
    return pixmap


def _polygon(*points: tuple[float, float]) -> QPainterPath:
    path = QPainterPath(QPointF(*points[0]))
    for point in points[1:]:
        path.lineTo(QPointF(*point))
    path.closeSubpath()
    return path


def _lines(*lines: tuple[tuple[float, float], ...]) -> QPainterPath:
    path = QPainterPath()
    for line in lines:
        path.moveTo(QPointF(*line[0]))
        for point in line[1:]:
            path.lineTo(QPointF(*point))
    return path


def _bar(left: float, top: float, width: float, height: float) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(QRectF(left, top, width, height), 1, 1)
    return path


def _arc(center: tuple[float, float], radius: float, start: float, sweep: float) -> QPainterPath:
    """Angles in degrees, counter-clockwise from three o'clock."""
    box = QRectF(center[0] - radius, center[1] - radius, 2 * radius, 2 * radius)
    path = QPainterPath()
    path.arcMoveTo(box, start)
    path.arcTo(box, start, sweep)
    return path


def _joined(*paths: QPainterPath) -> QPainterPath:
    """All paths as one, side by side; `+` would fill and merge them."""
    result = QPainterPath()
    for path in paths:
        result.addPath(path)
    return result


Shape = tuple[QPainterPath, QPainterPath]
"""What is filled, what is stroked."""


def _load() -> Shape:
    tray = _lines(((4, 15), (4, 20), (20, 20), (20, 15)), ((12, 4), (12, 14)))
    return QPainterPath(), _joined(tray, _lines(((7.5, 10), (12, 14.5), (16.5, 10))))


def _step() -> Shape:
    triangle = _polygon((5, 4.5), (15, 12), (5, 19.5))
    return _joined(triangle, _bar(16.5, 4.5, 3, 15)), QPainterPath()


def _step_10() -> Shape:
    first = _polygon((2, 5.5), (9.5, 12), (2, 18.5))
    second = _polygon((9.5, 5.5), (17, 12), (9.5, 18.5))
    return _joined(first, second, _bar(18.5, 5.5, 3, 13)), QPainterPath()


def _run() -> Shape:
    return _polygon((6.5, 3.5), (20, 12), (6.5, 20.5)), QPainterPath()


def _pause() -> Shape:
    return _joined(_bar(6, 4.5, 4.2, 15), _bar(13.8, 4.5, 4.2, 15)), QPainterPath()


def _run_to() -> Shape:
    arrow = _lines(((3, 12), (12.5, 12)), ((8.5, 7.5), (13, 12), (8.5, 16.5)))
    target = _lines(((18, 4), (18, 7)), ((18, 17), (18, 20)))
    return _arc((18, 12), 2.2, 0, 360), _joined(arrow, target)


def _run_to_finding() -> Shape:
    arrow = _lines(((2, 12), (10, 12)), ((5.5, 7.5), (10, 12), (5.5, 16.5)))
    sign = QPainterPath()
    sign.addPolygon(QPolygonF([QPointF(x, y) for x, y in ((18, 5), (23.5, 18.5), (12.5, 18.5))]))
    return sign, arrow


def _stop() -> Shape:
    path = QPainterPath()
    path.addRoundedRect(QRectF(5.5, 5.5, 13, 13), 2, 2)
    return path, QPainterPath()


def _restart() -> Shape:
    return _polygon((12.5, 1), (12.5, 9.6), (6.8, 5.3)), _arc((12, 13), 7.7, 60, -290)


def _play() -> Shape:
    return _polygon((9.6, 7.4), (17, 12), (9.6, 16.6)), _arc((12, 12), 9.2, 0, 360)


def _loop() -> Shape:
    heads = _joined(_polygon((14, 2), (14, 10), (19, 6)), _polygon((10, 14), (10, 22), (5, 18)))
    return heads, _lines(((4, 12.5), (4, 6), (14, 6)), ((20, 11.5), (20, 18), (10, 18)))


def _volume() -> Shape:
    waves = _joined(_arc((12.5, 12), 4.5, -50, 100), _arc((12.5, 12), 8.5, -52, 104))
    return _speaker(), waves


def _mute() -> Shape:
    return _speaker(), _lines(((16, 9), (22, 15)), ((22, 9), (16, 15)))


def _back() -> Shape:
    return _polygon((15.5, 6.5), (15.5, 17.5), (8, 12)), QPainterPath()


def _forward() -> Shape:
    return _polygon((8.5, 6.5), (8.5, 17.5), (16, 12)), QPainterPath()


def _first() -> Shape:
    return _joined(
        _polygon((17, 6.5), (17, 17.5), (9.5, 12)), _bar(6, 6.5, 2.4, 11)
    ), QPainterPath()


def _last() -> Shape:
    return _joined(
        _polygon((7, 6.5), (7, 17.5), (14.5, 12)), _bar(15.6, 6.5, 2.4, 11)
    ), QPainterPath()


def _fit() -> Shape:
    arrows = _lines(((2.5, 12), (9, 12)), ((6, 9), (9, 12), (6, 15)))
    return QPainterPath(), _joined(arrows, _mirrored(arrows), _lines(((12, 5), (12, 19))))


def _lock() -> Shape:
    return _bar(5, 11, 14, 9.5), _joined(_arc((12, 8.5), 4, 0, 180), _lines(((8, 8.5), (8, 11))))


def _symmetric() -> Shape:
    half = _polygon((10, 6), (10, 18), (3, 12))
    return half, _joined(_lines(((12, 3.5), (12, 20.5))), _polygon((14, 6), (14, 18), (21, 12)))


def _stacked() -> Shape:
    return _bar(4, 4, 16, 7), _lines(((5, 14), (19, 14), (19, 20), (5, 20), (5, 14)))


def _expansion() -> Shape:
    below = _lines(((5, 11), (5, 20), (19, 20), (19, 11)), ((12, 10), (12, 17)))
    return _bar(4, 3, 16, 4.5), _joined(below, _lines(((9, 14.2), (12, 17), (15, 14.2))))


def _history() -> Shape:
    return QPainterPath(), _joined(
        _arc((12, 12), 9, 0, 360), _lines(((12, 6.5), (12, 12), (16, 14)))
    )


def _mirrored(path: QPainterPath) -> QPainterPath:
    return QTransform(-1, 0, 0, 1, GRID, 0).map(path)


def _speaker() -> QPainterPath:
    return _polygon((2, 9), (6, 9), (12, 4), (12, 20), (6, 15), (2, 15))


_SHAPES: dict[IconName, Callable[[], Shape]] = {
    "load": _load,
    "step": _step,
    "step_10": _step_10,
    "run": _run,
    "pause": _pause,
    "run_to": _run_to,
    "run_to_finding": _run_to_finding,
    "stop": _stop,
    "restart": _restart,
    "play": _play,
    "loop": _loop,
    "volume": _volume,
    "mute": _mute,
    "first": _first,
    "back": _back,
    "forward": _forward,
    "last": _last,
    "fit": _fit,
    "lock": _lock,
    "symmetric": _symmetric,
    "stacked": _stacked,
    "expansion": _expansion,
    "history": _history,
}
