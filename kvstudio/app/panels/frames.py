"""Frames: the time line of the run, to scrub along, with the stop logit against its threshold."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from kvstudio.app.frame_line.frame_line import FrameLine
from kvstudio.app.frame_line.marks import FrameMarks, frame_marks
from kvstudio.app.frame_line.track import FrameTrack
from kvstudio.app.frame_line.words import EMPTY
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.settings import Settings
from kvstudio.app.stage import NO_RECORDING, Stage
from kvstudio.recording.errors import RecordingError

if TYPE_CHECKING:
    from kvstudio.app.workspace import Workspace
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.spec import Edit

TIMES_TIP = "Show how long each frame took: FlowLM, Mimi on top, against its 80 ms of speech"
SHOWN = Changed.RECORDING | Changed.FRAMES | Changed.FINDINGS
SHEET = "QToolButton { padding: 2px 6px; }"


class FramesPanel(Panel):
    """A time line with a column of buttons beside it."""

    title = "Frames"
    key = "frames"

    def __init__(
        self,
        workspace: Workspace,
        parent: QWidget | None = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(workspace, parent)
        self.settings = settings or Settings()
        self.track = FrameTrack()
        self.line = FrameLine(self.track)
        self.follow = _button("Follow", "Go along with the newest frame", checkable=True)
        self.times = _button("Times", TIMES_TIP, checkable=True)
        self.whole = _button("Fit", "Show all frames (0, double click)")
        contents = QWidget()
        self.stage = Stage(contents)
        self._arrange(contents)
        self._connect()
        self.times.setChecked(bool(self.settings.remembered(self.key).get("times", False)))
        self.line.show_times(self.times.isChecked())

    def refresh(self, changed: Changed) -> None:
        recording = self.workspace.recording
        if changed & Changed.STYLE:
            self.line.restyle()
        if recording is not None and (changed & SHOWN):
            self.track.take_in(recording.frames)
            growing = recording.live
            chunks = {chunk.id: chunk for chunk in recording.chunks}
            marks = self._marks(recording, changed)
            if changed & (Changed.RECORDING | Changed.FRAMES) or marks != self.track.marks:
                self.track.marks = marks
                self.line.show_track(chunks, growing=growing)
        if len(self.track):
            self.stage.present()
        else:
            self.stage.say(NO_RECORDING if recording is None else EMPTY)
        self._show_cursor()

    # ---- private ------------------------------------------------------------------------------

    def _marks(self, recording: Recording, changed: Changed) -> FrameMarks:
        if not changed & (Changed.RECORDING | Changed.FINDINGS):
            return self.track.marks
        edits: tuple[Edit, ...] = ()
        with suppress(RecordingError):  # which Setup tells
            edits = recording.spec.edits
        return frame_marks(self.workspace.findings.findings, edits)

    def _arrange(self, contents: QWidget) -> None:
        buttons = QVBoxLayout()
        buttons.setContentsMargins(0, 3, 6, 3)
        buttons.setSpacing(2)
        for button in (self.follow, self.times, self.whole):
            buttons.addWidget(button)
        buttons.addStretch(1)
        row = QHBoxLayout(contents)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self.line, 1)
        row.addLayout(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.stage)
        contents.setStyleSheet(SHEET)
        self.setFocusProxy(self.line)

    def _connect(self) -> None:
        workspace = self.workspace
        self.line.frame_chosen.connect(self._on_line_frame_chosen)
        self.line.follow_chosen.connect(self._on_line_follow_chosen)
        self.follow.clicked.connect(self._on_follow_clicked)
        self.times.clicked.connect(self._on_times_clicked)
        self.whole.clicked.connect(self._on_whole_clicked)
        workspace.recording_opened.connect(self._on_workspace_recording_opened)
        workspace.following_changed.connect(self._on_workspace_following_changed)

    def _show_cursor(self) -> None:
        following = self.workspace.following
        self.follow.setChecked(following)
        self.line.show_cursor(self.workspace.cursor.frame, following=following)

    def _follow(self) -> None:
        if len(self.track):
            self.workspace.move(frame=len(self.track) - 1, following=True)

    def _on_line_frame_chosen(self, frame: int) -> None:
        self.workspace.move(frame=frame)

    def _on_line_follow_chosen(self) -> None:
        self._follow()

    def _on_follow_clicked(self, wanted: bool) -> None:
        if wanted:
            self._follow()
        else:
            self.workspace.move(frame=self.workspace.cursor.frame, following=False)

    def _on_times_clicked(self, wanted: bool) -> None:
        self.settings.remember(self.key, {"times": wanted})
        self.line.show_times(wanted)

    def _on_whole_clicked(self) -> None:
        self.line.set_zoom(1.0)

    def _on_workspace_recording_opened(self) -> None:
        self.track.clear()
        self.line.set_zoom(1.0)

    def _on_workspace_following_changed(self) -> None:
        self.mark(Changed.FRAME)


def _button(text: str, tip: str, *, checkable: bool = False) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(checkable)
    return button
