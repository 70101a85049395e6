"""What happened in which frames beside the run itself: findings and edits, in a lane of their own.

A triangle is a finding, a diamond an edit of the user's.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvstudio.analysis.finding import Finding
    from kvstudio.app.frame_line.scene import LineScene
    from kvstudio.recording.spec import Edit

TRIANGLE = ((0.0, -4.5), (5.2, 4.2), (-5.2, 4.2))
DIAMOND = ((0.0, -4.8), (4.8, 0.0), (0.0, 4.8), (-4.8, 0.0))
APART = 6.0


@dataclass(frozen=True)
class FrameMarks:
    """Attributes, all by frame.

    errors: whether there is an error among the findings of a frame that has any.
    edits: frames in which an edit acts first.
    notes: what there is, in words.
    """

    errors: Mapping[int, bool] = field(default_factory=dict)
    edits: frozenset[int] = frozenset()
    notes: Mapping[int, list[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.notes)


def frame_marks(findings: Iterable[Finding], edits: Iterable[Edit]) -> FrameMarks:
    errors: dict[int, bool] = {}
    notes: dict[int, list[str]] = defaultdict(list)
    edited = set()
    for edit in edits:
        edited.add(edit.frame)
        notes[edit.frame].append(f"edit: {edit.recipe}")
    for finding in findings:
        if finding.frame is not None:
            is_error = finding.severity == "error"
            errors[finding.frame] = errors.get(finding.frame, False) or is_error
            notes[finding.frame].append(f"finding: {finding.kind}")
    return FrameMarks(errors, frozenset(edited), notes)


def paint_marks(painter: QPainter, scene: LineScene) -> None:
    marks, lane = scene.track.marks, scene.layout.marks
    if not lane.height():
        return
    palette = scene.palette
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for frame in sorted(marks.notes):
        x, y = scene.cell_rect(frame).center().x(), lane.center().y()
        if not scene.left <= x <= scene.right:
            continue
        both = frame in marks.edits and frame in marks.errors
        if frame in marks.edits:
            at = QPointF(x - (APART if both else 0), y)
            _paint_shape(painter, at, DIAMOND, palette.edited, palette.text)
        if frame in marks.errors:
            color = palette.error if marks.errors[frame] else palette.warning
            at = QPointF(x + (APART if both else 0), y)
            _paint_shape(painter, at, TRIANGLE, color, palette.panel)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_shape(
    painter: QPainter, at: QPointF, shape: tuple[tuple[float, float], ...], fill: str, edge: str
) -> None:
    painter.setPen(QPen(QColor(edge), 1) if edge else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(fill))
    painter.drawPolygon(QPolygonF([QPointF(at.x() + x, at.y() + y) for x, y in shape]))
