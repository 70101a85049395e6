"""The picture of a recording's sound: waveform and spectrogram over one axis of seconds.

A click selects a frame, a drag a range; the wheel magnifies at the pointer, with Shift it goes
along the axis; dragging with the middle button or with Shift moves the picture; a double click
shows all of it again. + - 0 magnify, Escape clears the selection.

What moves (playhead, cursor, selection) is painted over a picture that is kept, so a playhead
costs two narrow strips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPixmap
from PySide6.QtWidgets import QToolTip, QWidget

from kvstudio.app.painting.words import smaller
from kvstudio.app.sound.axis_painter import (
    paint_frame_numbers,
    paint_grid,
    paint_seconds,
    paint_wave_levels,
)
from kvstudio.app.sound.level_painter import paint_frequencies, paint_levels
from kvstudio.app.sound.marks import paint_marks
from kvstudio.app.sound.overlay import Overlay, paint_overlay, playhead_box
from kvstudio.app.sound.scene import SoundScene, lay_out, wave_limit
from kvstudio.app.sound.time_axis import TimeAxis, axis_end
from kvstudio.app.sound.wave_painter import paint_wave
from kvstudio.app.sound.words import point_words
from kvstudio.app.theme import Palette, current_palette

if TYPE_CHECKING:
    from PySide6.QtGui import (
        QKeyEvent,
        QMouseEvent,
        QPaintEvent,
        QResizeEvent,
        QWheelEvent,
    )

    from kvstudio.app.sound.level_picture import LevelPicture
    from kvstudio.app.sound.track import SoundTrack

ZOOM_STEP = 1.25
DRAG_DISTANCE = 4
SNAP_DISTANCE = 5
SMALLEST = QSize(220, 96)


class SoundView(QWidget):
    """Shows a track; what the user points at is told by signals and not acted upon.

    Signals:
        frame_chosen: a frame was clicked: its id and its first sample.
        selection_changed: a range was dragged or cleared; see `selection`.
    """

    frame_chosen = Signal(int, int)
    selection_changed = Signal()

    def __init__(self, track: SoundTrack, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.track = track
        self.levels: LevelPicture | None = None
        self.overlay = Overlay()
        self._axis = TimeAxis(0.0, 1.0, 1.0, 0.0, 1.0)
        self._growing = False
        self._palette: Palette = current_palette()
        self._picture: QPixmap | None = None
        self._pressed: tuple[Qt.MouseButton, QPointF, float] | None = None
        self._dragging = False
        self.setFont(smaller(self.font()))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setAccessibleName("Waveform and spectrogram")
        self._scene = self._make_scene()

    @property
    def scene(self) -> SoundScene:
        """What is painted now."""
        return self._scene

    @property
    def selection(self) -> tuple[int, int] | None:
        """The selected samples, first and one past the last."""
        return self.overlay.selection

    def redraw(self, *, growing: bool) -> None:
        """Show the track and the spectrogram as they are now.

        Args:
            growing: whether more is to come, so that the axis keeps room for it.
        """
        self._growing = growing
        self._refit()

    def restyle(self) -> None:
        self._palette = current_palette()
        self._refit()

    def show_all(self) -> None:
        self._look(self._axis.whole())

    def look_at(self, first: int, last: int) -> None:
        """Bring a range of samples into view, without magnifying."""
        rate = self.track.sample_rate
        self._look(self._axis.revealing(first / rate, last / rate))

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Magnify; what lies at x = `around` stays there, else the middle."""
        x = self._axis.left + self._axis.width / 2 if around is None else around
        self._look(self._axis.zoomed(factor, self._axis.second_at(x)))

    def show_overlay(self, overlay: Overlay) -> None:
        """Show cursor, selection and playhead elsewhere; repaints no more than it must."""
        old, self.overlay = self.overlay, overlay
        if (old.frame, old.selection) != (overlay.frame, overlay.selection):
            self.update()
        elif old.playhead != overlay.playhead:
            for sample in (old.playhead, overlay.playhead):
                if sample is not None:
                    self.update(playhead_box(self._scene, sample).toAlignedRect())

    def clear_selection(self) -> None:
        self._select(None)

    # ---- private ------------------------------------------------------------------------------

    def _make_scene(self) -> SoundScene:
        layout = lay_out(self.width(), self.height(), with_levels=self.levels is not None)
        end = axis_end(self.track.seconds, growing=self._growing)
        self._axis = self._axis.placed(layout.wave.left(), layout.wave.width(), end)
        return SoundScene(
            layout,
            self._axis,
            self.track,
            self.levels,
            wave_limit(self.track.envelope.peak()),
            self._palette,
            self.font(),
            self.devicePixelRatioF(),
        )

    def _refit(self) -> None:
        self._scene = self._make_scene()
        self._picture = None
        self.update()

    def _look(self, axis: TimeAxis) -> None:
        if axis != self._axis:
            self._axis = axis
            self._refit()

    def _select(self, selection: tuple[int, int] | None) -> None:
        if selection != self.overlay.selection:
            old = self.overlay
            self.show_overlay(Overlay(old.frame, selection, old.playhead))
            self.selection_changed.emit()

    def _snapped(self, x: float) -> int:
        """The sample under x, or the frame boundary right beside it."""
        sample = min(max(0, round(self._scene.sample_at(x))), len(self.track))
        if not len(self.track):
            return sample
        edge = self.track.nearest_edge(sample)
        near = abs(self._scene.x_of_sample(edge) - x) <= SNAP_DISTANCE
        return edge if near else sample

    def _draw_picture(self) -> QPixmap:
        scene = self._scene
        size = QSize(self.width(), self.height()) * scene.ratio
        picture = QPixmap(size)
        picture.setDevicePixelRatio(scene.ratio)
        picture.fill(QColor(scene.palette.panel))
        painter = QPainter(picture)
        painter.setFont(scene.font)
        painter.fillRect(scene.layout.wave, QColor(scene.palette.background))
        if scene.levels is not None:
            painter.fillRect(scene.layout.levels, QColor(scene.palette.background))
            paint_levels(painter, scene, scene.levels)
            paint_frequencies(painter, scene)
        paint_grid(painter, scene)
        paint_wave(painter, scene)
        paint_wave_levels(painter, scene)
        paint_frame_numbers(painter, scene)
        paint_seconds(painter, scene)
        paint_marks(painter, scene)
        painter.end()
        return picture

    def _click(self, x: float) -> None:
        self._select(None)
        frame = self.track.frame_at(self._scene.sample_at(x))
        samples = self.track.range_of(frame)
        if frame is not None and samples is not None:
            self.frame_chosen.emit(frame, samples[0])

    def _drag(self, x: float) -> None:
        assert self._pressed is not None
        button, begun, second = self._pressed
        if button is Qt.MouseButton.MiddleButton:
            self._look(self._axis.panned(second - self._axis.second_at(x)))
            return
        first, last = sorted((self._snapped(begun.x()), self._snapped(x)))
        self._select((first, last) if last > first else None)

    # ---- Qt overrides -------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(900, 150)

    def minimumSizeHint(self) -> QSize:
        return SMALLEST

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._scene.ratio != self.devicePixelRatioF():
            self._scene, self._picture = self._make_scene(), None
        if self._picture is None:
            self._picture = self._draw_picture()
        painter = QPainter(self)
        ratio = self._scene.ratio
        rect = event.rect()
        source = QRectF(QPointF(rect.topLeft()) * ratio, rect.size().toSizeF() * ratio)
        painter.drawPixmap(QRectF(rect), self._picture, source)
        painter.setFont(self.font())
        paint_overlay(painter, self._scene, self.overlay)
        if self.hasFocus():
            painter.setPen(QColor(self._palette.accent))
            painter.drawRect(self._scene.layout.plots.toRect().adjusted(-1, -1, 0, 0))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        button, shift = event.button(), event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if button is Qt.MouseButton.LeftButton and shift:
            button = Qt.MouseButton.MiddleButton
        if button in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            second = self._axis.second_at(event.position().x())
            self._pressed, self._dragging = (button, event.position(), second), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        moved = abs(event.position().x() - self._pressed[1].x())
        self._dragging = self._dragging or moved >= DRAG_DISTANCE
        if self._dragging:
            self._drag(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed and pressed[0] is Qt.MouseButton.LeftButton and not self._dragging:
            self._click(event.position().x())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pressed = None
        self.show_all()

    def wheelEvent(self, event: QWheelEvent) -> None:
        along, across = event.angleDelta().x() / 120, event.angleDelta().y() / 120
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            along, across = along + across, 0.0
        if along:
            self._look(self._axis.panned(-along * self._axis.span / 10))
        if across:
            self.zoom(ZOOM_STEP**across, event.position().x())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(ZOOM_STEP)
        elif key is Qt.Key.Key_Minus:
            self.zoom(1 / ZOOM_STEP)
        elif key is Qt.Key.Key_0:
            self.show_all()
        elif key is Qt.Key.Key_Escape and self.selection is not None:
            self.clear_selection()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            words = point_words(self._scene, QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)
