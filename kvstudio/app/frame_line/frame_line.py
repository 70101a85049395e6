"""The time line: every frame as a cell, the stop logit below it, all on one axis.

A click or a drag goes to a frame; the wheel magnifies at the pointer, with Shift it goes along
the line; dragging with the middle button moves it; a double click shows all frames again. Left,
Right, Home, End, Page Up and Page Down go from frame to frame; + - 0 magnify.
"""

from __future__ import annotations

from html import escape
from math import floor
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from kvstudio.app.frame_line.overlay import paint_cursor, paint_head
from kvstudio.app.frame_line.picture import line_picture
from kvstudio.app.frame_line.scene import (
    WIDEST_CELL,
    LineLayout,
    LineScene,
    axis_frames,
    fitted_cell,
    lay_out,
)
from kvstudio.app.frame_line.walk import stepped
from kvstudio.app.frame_line.words import frame_lines
from kvstudio.app.painting.strip_walk import ZOOM_STEP, magnified
from kvstudio.app.painting.words import smaller
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import (
        QKeyEvent,
        QMouseEvent,
        QPaintEvent,
        QResizeEvent,
        QWheelEvent,
    )

    from kvstudio.app.frame_line.track import FrameTrack
    from kvstudio.recording.rows import Chunk

AHEAD = 0.15
"""Share of the width kept free ahead of the cursor when the line scrolls along."""

SMALLEST = QSize(220, 84)
HEAD_TIP = "Go along with the newest frame"


class FrameLine(QAbstractScrollArea):
    """Shows a track of frames; where the user wants to go is told by signals.

    Signals:
        frame_chosen: a frame id.
        follow_chosen: the head was clicked.
    """

    frame_chosen = Signal(int)
    follow_chosen = Signal()

    def __init__(self, track: FrameTrack, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.track = track
        self._chunks: Mapping[int, Chunk] = {}
        self._growing = False
        self._with_times = False
        self._cursor: int | None = None
        self._following = True
        self._zoom = 1.0
        self._panning: tuple[float, int] | None = None
        self._scrubbing = False
        self._picture: QPixmap | None = None
        self.setFont(smaller(self.font()))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Time line of frames")
        self._scene = self._make_scene()

    @property
    def scene(self) -> LineScene:
        """What is painted now."""
        return self._scene

    @property
    def zoom(self) -> float:
        """1 shows all frames."""
        return self._zoom

    def show_track(self, chunks: Mapping[int, Chunk], *, growing: bool) -> None:
        """Show the track as it is now.

        Args:
            chunks: by id.
            growing: whether more is to come.
        """
        self._chunks, self._growing = chunks, growing
        self._refit()

    def show_cursor(self, frame: int | None, *, following: bool) -> None:
        """Mark a frame and bring it into view."""
        if (frame, following) == (self._cursor, self._following):
            return
        self._cursor, self._following = frame, following
        if frame is not None and frame < len(self.track):
            self._reveal(frame)
            self.setAccessibleDescription("; ".join(self._lines(frame)))
        self.viewport().update()

    def show_times(self, wanted: bool) -> None:
        self._with_times = wanted
        self._refit()

    def restyle(self) -> None:
        self._refit()

    def set_zoom(self, zoom: float, around: float | None = None) -> None:
        """Magnify; what lies at x = `around` stays there, else the cursor or the middle."""
        scene, bar = self._scene, self.horizontalScrollBar()
        if around is None:
            middle = (scene.left + scene.right) / 2
            around = middle if self._cursor is None else scene.cell_rect(self._cursor).center().x()
        within = around - scene.left
        frame = scene.first + within / scene.cell
        fitted = scene.cell / self._zoom
        self._zoom = min(max(zoom, 1.0), max(1.0, WIDEST_CELL / fitted))
        self._refit()
        # The axis begins at frame 0, so what is left of it is what has been scrolled past.
        bar.setValue(round(frame * self._scene.cell - within))

    def tip_at(self, point: QPointF) -> str:
        """What a tool tip says at a point, as rich text; empty where there is no frame."""
        if self._hits_head(point):
            return HEAD_TIP
        scene = self._scene
        frame = floor((point.x() - scene.left) / scene.cell + scene.first)
        if not (0 <= frame < len(self.track) and scene.left <= point.x() <= scene.right):
            return ""
        # Rich, and thus wrapped; but what a file says is never taken for markup.
        return "<qt>" + "<br>".join(escape(line) for line in self._lines(frame)) + "</qt>"

    # ---- private ------------------------------------------------------------------------------

    def _refit(self) -> None:
        """Make the scroll bar and the scene fit the frames, the place and the zoom."""
        layout = self._lay_out()
        frames = axis_frames(len(self.track), growing=self._growing)
        content = frames * self._cell(layout)
        bar = self.horizontalScrollBar()
        bar.setRange(0, max(0, round(content - layout.cells.width())))
        bar.setPageStep(round(layout.cells.width()))
        bar.setSingleStep(24)
        self._rescene()

    def _rescene(self) -> None:
        self._scene, self._picture = self._make_scene(), None
        self.viewport().update()

    def _make_scene(self) -> LineScene:
        layout = self._lay_out()
        cell = self._cell(layout)
        return LineScene(
            layout,
            self.track,
            self.horizontalScrollBar().value() / cell,
            cell,
            self._chunks,
            self._growing,
            current_palette(),
            self.font(),
            self.devicePixelRatioF(),
        )

    def _lay_out(self) -> LineLayout:
        size = self.viewport().size()
        return lay_out(
            size.width(),
            size.height(),
            chunks=len(self.track.chunk_starts),
            with_times=self._with_times,
            head=self._growing,
            marks=bool(self.track.marks),
        )

    def _cell(self, layout: LineLayout) -> float:
        frames = axis_frames(len(self.track), growing=self._growing)
        return fitted_cell(layout.cells.width(), frames) * self._zoom

    def _reveal(self, frame: int) -> None:
        scene, bar = self._scene, self.horizontalScrollBar()
        cell, width = scene.cell_rect(frame), scene.right - scene.left
        if cell.left() < scene.left:
            bar.setValue(round(frame * scene.cell - AHEAD * width))
        elif cell.right() > scene.right:
            bar.setValue(round((frame + 1) * scene.cell - (1 - AHEAD) * width))

    def _lines(self, frame: int) -> list[str]:
        shown = self.track[frame]
        notes = self.track.marks.notes.get(frame, ())
        return [*frame_lines(shown, self._chunks.get(shown.chunk)), *notes]

    def _hits_head(self, point: QPointF) -> bool:
        return self._growing and self._scene.head_rect.contains(point)

    def _choose(self, x: float) -> None:
        if len(self.track):
            self.frame_chosen.emit(self._scene.frame_at(x))

    # ---- Qt overrides -------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(900, 110)

    def minimumSizeHint(self) -> QSize:
        return SMALLEST

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._scene.ratio != self.devicePixelRatioF():
            self._scene, self._picture = self._make_scene(), None
        if self._picture is None:
            self._picture = line_picture(self._scene, self.viewport().size())
        painter = QPainter(self.viewport())
        painter.drawPixmap(0, 0, self._picture)
        painter.setFont(self.font())
        if self._growing:
            paint_head(painter, self._scene, following=self._following)
        if self._cursor is not None and self._cursor < len(self.track):
            paint_cursor(painter, self._scene, self._cursor)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refit()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self._rescene()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if event.button() is Qt.MouseButton.MiddleButton:
            self._panning = (point.x(), self.horizontalScrollBar().value())
        elif event.button() is Qt.MouseButton.LeftButton and self._hits_head(point):
            self.follow_chosen.emit()
        elif event.button() is Qt.MouseButton.LeftButton:
            self._scrubbing = True
            self._choose(point.x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._panning is not None:
            begun, value = self._panning
            self.horizontalScrollBar().setValue(round(value + begun - event.position().x()))
        elif self._scrubbing:
            self._choose(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._panning, self._scrubbing = None, False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.set_zoom(1.0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        along, across = event.angleDelta().x() / 120, event.angleDelta().y() / 120
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            along, across = along + across, 0.0
        bar = self.horizontalScrollBar()
        if along:
            bar.setValue(round(bar.value() - along * bar.pageStep() / 8))
        if across:
            self.set_zoom(self._zoom * ZOOM_STEP**across, event.position().x())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        target = stepped(self._cursor, key, event.modifiers(), len(self.track))
        if target is not None:
            self.frame_chosen.emit(target)
        elif (zoom := magnified(self._zoom, key)) is not None:
            self.set_zoom(zoom)
        else:
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self.viewport())
            return True
        return super().viewportEvent(event)
