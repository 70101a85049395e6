"""The time line as a picture, without what moves over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

from kvstudio.app.frame_line.cell_painter import paint_cells, paint_chunks
from kvstudio.app.frame_line.marks import paint_marks
from kvstudio.app.frame_line.plot_painter import paint_plot, paint_times

if TYPE_CHECKING:
    from kvstudio.app.frame_line.scene import LineScene


def line_picture(scene: LineScene, size: QSize) -> QPixmap:
    picture = QPixmap(size * scene.ratio)
    picture.setDevicePixelRatio(scene.ratio)
    picture.fill(QColor(scene.palette.panel))
    painter = QPainter(picture)
    painter.setFont(scene.font)
    paint_plot(painter, scene)
    paint_times(painter, scene)
    painter.setClipRect(QRectF(scene.left - 1, 0, scene.right - scene.left + 2, size.height()))
    paint_chunks(painter, scene)
    paint_cells(painter, scene)
    paint_marks(painter, scene)
    painter.end()
    return picture
