"""Where findings are heard: a flag over the second and a line through the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvstudio.analysis.finding import Finding
    from kvstudio.app.sound.scene import SoundScene

FLAG = ((-5.0, -9.0), (5.0, -9.0), (0.0, 0.0))
NEAR = 6.0
"""How far from its line, in pixels, a mark still answers to the pointer."""


@dataclass(frozen=True)
class SoundMark:
    second: float
    kind: str
    is_error: bool


def sound_marks(findings: Iterable[Finding]) -> tuple[SoundMark, ...]:
    """Where each finding is first heard."""
    marks = []
    for finding in findings:
        seconds = [link.second for link in finding.chain if link.second is not None]
        if seconds:
            marks.append(SoundMark(min(seconds), finding.kind, finding.severity == "error"))
    return tuple(marks)


def paint_marks(painter: QPainter, scene: SoundScene) -> None:
    plots = scene.layout.plots
    for mark in scene.track.marks:
        x = round(scene.axis.x_of(mark.second))
        if not plots.left() - 1 <= x <= plots.right() + 1:
            continue
        color = QColor(scene.palette.error if mark.is_error else scene.palette.warning)
        painter.setPen(QPen(color, 1.4, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(x, plots.top(), x, plots.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(scene.palette.panel), 1))
        painter.setBrush(color)
        top = scene.layout.ruler.bottom()
        painter.drawPolygon(QPolygonF([QPointF(x + dx, top + dy) for dx, dy in FLAG]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def mark_words(scene: SoundScene, x: float) -> str:
    """What is heard from about there on, a line for each finding."""
    near = [mark for mark in scene.track.marks if abs(scene.axis.x_of(mark.second) - x) <= NEAR]
    return "\n".join(f"{mark.kind}: heard from {mark.second:.2f} s on" for mark in near)
