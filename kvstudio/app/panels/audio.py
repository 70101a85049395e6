"""Audio: what the run sounds like so far, seen and heard."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from kvstudio.app.panel import Changed, Panel
from kvstudio.app.player import Player
from kvstudio.app.settings import Settings
from kvstudio.app.sound.export import WavExport, WavKind, write_wav
from kvstudio.app.sound.growing_levels import GrowingLevels
from kvstudio.app.sound.marks import sound_marks
from kvstudio.app.sound.notes import Notes
from kvstudio.app.sound.overlay import Overlay
from kvstudio.app.sound.playback import Playback
from kvstudio.app.sound.sound_bar import SoundBar
from kvstudio.app.sound.sound_view import SoundView
from kvstudio.app.sound.track import SoundTrack
from kvstudio.app.sound.words import EMPTY, NO_SAMPLES, SILENT_END
from kvstudio.app.stage import NO_RECORDING, Stage
from kvstudio.recording.errors import RecordingError

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QKeyEvent

    from kvstudio.app.workspace import Workspace

ASK_FOR_DEVICE_AFTER_MS = 1_500
"""The first question whether there is a device takes 0.2 s: asked when the window has settled."""


KEYS = {
    (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier): "play",
    (Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier): "frame",
    (Qt.Key.Key_L, Qt.KeyboardModifier.NoModifier): "loop",
}


class AudioPanel(Panel):
    """A bar of controls over a picture; Space plays, Shift+Space the frame, L loops."""

    title = "Audio"
    key = "audio"

    def __init__(
        self,
        workspace: Workspace,
        parent: QWidget | None = None,
        *,
        player: Player | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(workspace, parent)
        self.settings = settings or Settings()
        self.track = SoundTrack()
        self.playback = Playback(self.track, player or Player(), self)
        self.levels = GrowingLevels(self.track, self)
        self.export = WavExport(self.track, self)
        self.notes = Notes()
        self.bar = SoundBar(self.settings)
        self.view = SoundView(self.track)
        self.stage = Stage(self.view)
        self._arrange()
        self._connect()
        self.playback.player.set_volume(self.bar.volume)
        if self.bar.buttons["each"].isChecked():
            self.playback.set_each_frame(True)
        QTimer.singleShot(ASK_FOR_DEVICE_AFTER_MS, self, self._ask_for_device)

    def refresh(self, changed: Changed) -> None:
        if changed & Changed.STYLE:
            self.bar.restyle()
            self.view.restyle()
        try:
            self._take_in()
        except RecordingError as error:
            self.stage.say(str(error))
            return
        self._show_contents()
        marks = sound_marks(self.workspace.findings.findings)
        if changed & (Changed.RECORDING | Changed.FRAMES) or marks != self.track.marks:
            self.track.marks = marks
            self._redraw()
        if changed & Changed.SECOND:
            self._go_to_second(self.workspace.cursor.second)
        self._show_cursor()
        if changed & (Changed.RECORDING | Changed.FRAME):
            self._reveal_cursor()

    # ---- for the window -----------------------------------------------------------------------

    def export_wav(self, path: Path, kind: WavKind = "16-bit") -> str:
        """Write the audio so far; what was written, in words.

        Raises:
            OSError: the file cannot be written; its text says why.
        """
        self._take_in()
        self.notes.message = write_wav(path, self.track.samples, self.track.sample_rate, kind)
        self._show_words()
        return self.notes.message

    def ask_export(self) -> QFileDialog:
        """Ask where to save, and in which of the two kinds of WAV."""
        with suppress(RecordingError):  # which the picture tells
            self._take_in()
        recording = self.workspace.recording
        name = f"{recording.path.stem if recording else 'recording'}.wav"
        return self.export.ask(Path(self.settings.folder) / name)

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.stage, 1)
        self.setFocusProxy(self.view)

    def _connect(self) -> None:
        self.bar.pressed.connect(self._on_bar_pressed)
        self.bar.volume_changed.connect(self.playback.player.set_volume)
        self.view.frame_chosen.connect(self._on_view_frame_chosen)
        self.view.selection_changed.connect(self._on_view_selection_changed)
        self.export.written.connect(self._on_export_written)
        self.export.failed.connect(self._on_export_failed)
        self.levels.grown.connect(self._redraw)
        self.playback.changed.connect(self._on_playback_changed)
        self.playback.position_moved.connect(self._on_playback_position_moved)
        self.playback.failed.connect(self._on_playback_failed)
        self.workspace.recording_opened.connect(self._on_workspace_recording_opened)
        self.workspace.frames_added.connect(self._on_workspace_frames_added)

    def _take_in(self) -> None:
        """Take in what is new, and play it if it is to be heard."""
        if self.workspace.recording is not None:
            self.track.take_in(self.workspace.recording)
            if self.playback.active or self.playback.each_frame:
                self.playback.feed()

    def _show_contents(self) -> None:
        recording = self.workspace.recording
        self.bar.allow(sound=bool(len(self.track)))
        if len(self.track):
            self.stage.present()
        elif recording is None:
            self.stage.say(NO_RECORDING)
        else:
            self.stage.say(EMPTY if recording.live else SILENT_END)

    def _redraw(self) -> None:
        recording = self.workspace.recording
        growing = recording is not None and recording.live
        self.view.levels = self.levels.go_on() if self.bar.wants_levels else None
        self.view.redraw(growing=growing)

    def _show_cursor(self) -> None:
        frame = self.workspace.cursor.frame
        samples = self.track.range_of(frame)
        self.view.show_overlay(
            Overlay(
                None if frame is None or samples is None else (frame, *samples),
                self.view.selection,
                self.playback.playhead,
            )
        )
        self._show_words()

    def _reveal_cursor(self) -> None:
        samples = self.track.range_of(self.workspace.cursor.frame)
        if samples is not None and not self.playback.sounding:
            self.view.look_at(*samples)

    def _go_to_second(self, second: float | None) -> None:
        """Playing begins there, where a finding is heard."""
        if second is not None and second < self.track.seconds:
            self.playback.start = round(second * self.track.sample_rate)
            self.bar.show_playback(self.playback)

    def _show_words(self) -> None:
        self.notes.show(self.bar, self.playback, self.workspace.frame, self.view.selection)

    def _play_frame(self, *, loop: bool = False) -> None:
        samples = self.track.range_of(self.workspace.cursor.frame)
        if samples is None:
            self.notes.message = NO_SAMPLES
        else:
            self.playback.play(*samples, loop=loop)

    def _loop(self) -> None:
        if self.playback.looping:
            self.playback.stop()
        elif self.view.selection is not None:
            self.playback.play(*self.view.selection, loop=True)
        else:
            self._play_frame(loop=True)
        self.bar.show_playback(self.playback)

    def _ask_for_device(self) -> None:
        if self.isVisible():
            self.notes.why_silent = self.playback.player.why_silent
            self._show_words()

    def _act(self, name: str) -> None:
        self.notes.forget()
        if name == "play":
            self.playback.toggle(self.view.selection)
        elif name == "stop":
            self.playback.stop()
        elif name == "frame":
            self._play_frame()
        elif name == "loop":
            self._loop()
        self._show_words()

    def _on_bar_pressed(self, name: str) -> None:
        self._act(name)
        if name == "each":
            self.playback.set_each_frame(self.bar.buttons["each"].isChecked())
        elif name == "whole":
            self.view.show_all()
        elif name == "export":
            self.ask_export()
        elif name == "levels":
            self._redraw()
        self.view.setFocus()

    def _on_view_frame_chosen(self, frame: int, first: int) -> None:
        self.notes.forget()
        self.playback.start = first
        self.bar.show_playback(self.playback)
        self.workspace.move(frame=frame)
        self._show_cursor()

    def _on_view_selection_changed(self) -> None:
        self.notes.forget()
        self._show_words()

    def _on_export_written(self, path: Path, said: str) -> None:
        self.settings.folder = path.parent
        self.notes.message = said
        self._show_words()

    def _on_export_failed(self, drafts: tuple[str, ...]) -> None:
        self.notes.failure = drafts
        self._show_words()

    def _on_playback_changed(self) -> None:
        if self.playback.active:
            self.notes.why_silent = ""
        self.bar.show_playback(self.playback)
        self._show_cursor()

    def _on_playback_position_moved(self, sample: int) -> None:
        if self.isVisible() and self.playback.active:
            self.view.look_at(sample, sample)
            self._show_cursor()

    def _on_playback_failed(self, why: str) -> None:
        self.notes.why_silent = why
        self._show_words()

    def _on_workspace_recording_opened(self) -> None:
        self.playback.forget()
        self.track.clear()
        self.levels.forget()
        self.view.levels = None
        self.view.clear_selection()
        self.notes.forget()
        self._on_workspace_frames_added()

    def _on_workspace_frames_added(self) -> None:
        """Also while hidden: what plays goes on, and steps are heard."""
        if self.playback.active or self.playback.each_frame:
            try:
                self._take_in()
            except RecordingError:
                self.mark(Changed.FRAMES)  # told when the panel is seen

    # ---- Qt overrides -------------------------------------------------------------------------

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.levels.rest()
        self.mark(Changed.FRAMES)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        name = KEYS.get((Qt.Key(event.key()), event.modifiers()))
        if name is not None and self.bar.buttons[name].isEnabled():
            self._act(name)
        else:
            super().keyPressEvent(event)
