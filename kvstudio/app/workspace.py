"""Where the user is: the open recording and a cursor into it. The window's only controller.

Panels ask the workspace and follow its signals; they never change the recording, and they never
talk to each other. A panel that wants the cursor elsewhere calls `move`.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from kvstudio.app.findings.watch import FindingsWatch
from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

POLL_MS = 100


@dataclass(frozen=True)
class Cursor:
    """What the user looks at. `None` means nothing of that kind is selected.

    Attributes:
        frame: frame id.
        op: op id.
        cache: cache id (a layer).
        slot: slot of that cache.
        second: of the audio, where a finding is heard; gone when the frame changes.
    """

    frame: int | None = None
    op: int | None = None
    cache: int | None = None
    slot: int | None = None
    second: float | None = None


class Workspace(QObject):
    """The open recording and the cursor.

    Attributes:
        findings: what is wrong with the recording, as far as it is known.

    Signals:
        recording_opened: another recording is open, or none.
        frames_added: (first, last) new frames `[first, last)` can be read.
        run_ended: nothing more will be added; the writer is done, or gone.
        cursor_moved: (old, new), two `Cursor`.
        following_changed: whether the cursor goes along with the newest frame.
        trouble_met: a file could not be read, in words.
    """

    recording_opened = Signal()
    frames_added = Signal(int, int)
    run_ended = Signal()
    cursor_moved = Signal(object, object)
    following_changed = Signal(bool)
    trouble_met = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.recording: Recording | None = None
        self.cursor = Cursor()
        self.following = True
        self.findings = FindingsWatch(self)
        self._poll = QTimer(self, interval=POLL_MS)
        self._poll.timeout.connect(self.refresh)

    # ---- the recording ------------------------------------------------------------------------

    def open(self, path: str | Path) -> bool:
        """Opens a recording, whole or growing; if it cannot, says why and keeps the old one."""
        try:
            recording = Recording.open(path)
            growing = recording.status == "recording"
            if not growing:
                recording.settle()
        except RecordingError as error:
            self.trouble_met.emit(str(error))
            return False
        self._replace(recording)
        if growing:
            self._poll.start()
        return True

    def close(self) -> None:
        self._replace(None)

    def refresh(self) -> None:
        """Takes in what the run has added; called by a timer and when the engine says so."""
        if self.recording is None:
            return
        try:
            new = self.recording.refresh()
            over = self._poll.isActive() and self.recording.status != "recording"
            if over:
                self._poll.stop()
                self.recording.settle()
        except RecordingError as error:
            self._poll.stop()
            self.trouble_met.emit(str(error))
            return
        if new:
            self.frames_added.emit(new.start, new.stop)
            if self.following or self.cursor.frame is None:
                self.move(frame=new.stop - 1, following=True)
        self.findings.refresh()
        if over:
            self.run_ended.emit()

    @property
    def frame(self) -> Frame | None:
        """The frame under the cursor."""
        if self.recording is None or self.cursor.frame is None:
            return None
        return self.recording.frames[self.cursor.frame]

    # ---- the cursor ---------------------------------------------------------------------------

    def move(
        self,
        *,
        frame: int | None = None,
        op: int | None = None,
        cache: int | None = None,
        slot: int | None = None,
        second: float | None = None,
        following: bool | None = None,
    ) -> None:
        """Moves the cursor; what is not named stays, but another frame deselects op and second.

        Moving to the newest frame makes the cursor follow the run, moving elsewhere stops it.
        """
        if self.recording is None:
            return
        old, new = self.cursor, self.cursor
        if frame is not None:
            frame = max(0, min(frame, len(self.recording.frames) - 1))
            if frame != old.frame:
                new = replace(new, frame=frame, op=None, second=None)
            at_head = frame == len(self.recording.frames) - 1
            self._follow(at_head if following is None else following)
        if cache is not None and cache != old.cache:
            new = replace(new, cache=cache, slot=None)
        named: dict[str, Any] = {"op": op, "slot": slot, "second": second}
        new = replace(new, **{name: each for name, each in named.items() if each is not None})
        if new != old:
            self.cursor = new
            self.cursor_moved.emit(old, new)

    def step_cursor(self, frames: int) -> None:
        """Moves the cursor by some frames, for the arrow keys."""
        if self.cursor.frame is not None:
            self.move(frame=self.cursor.frame + frames)

    # ---- private ------------------------------------------------------------------------------

    def _follow(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.following_changed.emit(following)

    def _replace(self, recording: Recording | None) -> None:
        self._poll.stop()
        if self.recording is not None:
            self.recording.close()
        self.recording = recording
        self.cursor = Cursor()
        self._follow(True)
        if recording is not None:
            frame = len(recording.frames) - 1 if recording.frames else None
            self.cursor = Cursor(frame=frame, cache=0 if recording.caches else None)
        self.findings.follow(recording)
        self.recording_opened.emit()
