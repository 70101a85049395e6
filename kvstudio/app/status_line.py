"""The status bar: what the engine is doing, in words, and what it runs on."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLabel, QStatusBar

from kvstudio.app.findings.notice import found_words, holds_for
from kvstudio.app.findings.words import verdict_words
from kvstudio.app.recordings_folder import voice_title
from kvstudio.app.run_control import RunControl
from kvstudio.app.words import counted
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p
from kvstudio.recording.errors import SpecError
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

DOT = " · "
TONES = {
    "starting": "busy",
    "loading": "busy",
    "voicing": "busy",
    "held": "held",
    "running": "running",
    "dead": "dead",
}
AVERAGED_FRAMES = 8
ANEW = "F10 begins a new run"


class StatusLine(QObject):
    """Keeps a status bar up to date.

    Such as `held before frame 18 · demo, voice low · 811 ops and 41 ms a frame`.
    """

    def __init__(self, bar: QStatusBar, control: RunControl, workspace: Workspace) -> None:
        super().__init__(bar)
        self._control, self._workspace = control, workspace
        self._state, self._words, self._ended = "starting", "the engine is starting", ""
        self._news: list[p.Found] = []
        self.dot = QLabel()
        self.dot.setObjectName("state_dot")
        self.dot.setFixedSize(10, 10)
        self.state = QLabel()
        self.state.setObjectName("state_words")
        self.verdict = QLabel()
        self.run = QLabel()
        self.versions = QLabel()
        self.versions.setProperty("role", "muted")
        for label in (self.dot, self.state):
            bar.addWidget(label)
        bar.addWidget(self.verdict)
        bar.addWidget(self.run, 1)
        bar.addPermanentWidget(self.versions)
        bar.setSizeGripEnabled(False)
        bar.setContentsMargins(8, 0, 8, 0)
        workspace.recording_opened.connect(self.update_words)
        workspace.frames_added.connect(self.update_words)
        workspace.findings.changed.connect(self.update_verdict)
        self.show_state(self._state, self._words)

    def show_state(self, state: str, words: str) -> None:
        self._state, self._words = state, words
        if state != "held":
            self._news.clear()
        if state not in ("ready", "dead"):
            self._ended = ""
        self.dot.setProperty("tone", TONES.get(state, "idle"))
        self.dot.style().unpolish(self.dot)
        self.dot.style().polish(self.dot)
        self.update_words()

    def take_event(self, event: object) -> None:
        if isinstance(event, p.Ready):
            shown = {"pocket_tts": "pocket-tts", "torch": "torch", "python": "Python"}
            found = [f"{word} {event.versions[key]}" for key, word in shown.items()
                     if key in event.versions]  # fmt: skip
            self.versions.setText(DOT.join(found))
            self.versions.setToolTip(f"The engine is process {event.pid}")
        elif isinstance(event, p.Found):
            self._news.append(event)
        elif isinstance(event, p.Finished):
            self._ended = _ended_words(event)
            self.update_words()

    def update_words(self) -> None:
        self.state.setText(self._state_words())
        recording = self._workspace.recording
        self.run.setText(f"{DOT.lstrip()}{run_words(recording)}" if recording is not None else "")

    def update_verdict(self) -> None:
        """Quiet as long as nothing is wrong."""
        words = verdict_words(self._workspace.findings)
        is_loud = words.tone in ("error", "warning") and bool(self._workspace.findings.findings)
        self.verdict.setProperty("role", "error" if is_loud else "muted")
        self.verdict.style().unpolish(self.verdict)
        self.verdict.style().polish(self.verdict)
        title = words.title[:1].lower() + words.title[1:]
        self.verdict.setText(f"{DOT.lstrip()}{title}" if title else "")

    # ---- private ------------------------------------------------------------------------------

    def _state_words(self) -> str:
        if self._state == "ready" and self._control.begins_anew:
            return f"{self._ended or self._words}{DOT}{ANEW}"
        if self._state == "ready" and self._ended:
            return self._ended
        if self._state == "held" and (news := holds_for(self._words, self._news)):
            before = self._words.partition(": ")[0]
            return f"{before}: {', '.join(map(found_words, news))}"
        if self._state == "running" and self._control.next_frame is not None:
            return "running"
        return self._words


def _ended_words(event: p.Finished) -> str:
    """Such as `the run finished: ended by EOS`, `the run was stopped before frame 5`."""
    if event.status == "stopped":
        return f"the run was {event.reason or event.status}"
    return f"the run {event.status}: {event.reason}" if event.reason else f"the run {event.status}"


def run_words(recording: Recording) -> str:
    """Such as `demo, voice low · 811 ops and 41 ms a frame`."""
    try:
        spec = recording.spec
    except SpecError:
        return counted(len(recording.frames), "frame")
    parts = [f"{spec.model.title}, voice {voice_title(spec.voice)}"]
    decoded = [frame for frame in recording.frames[-AVERAGED_FRAMES:] if frame.phase == "decode"]
    if decoded:
        parts.append(_cost_words(decoded))
    return DOT.join(parts)


def _cost_words(frames: list[Frame]) -> str:
    ops = round(sum(frame.op_count for frame in frames) / len(frames))
    took = sum(frame.flow_lm_ns + frame.mimi_ns for frame in frames) / len(frames) / 1e6
    time = f"{took:.0f} ms" if took >= 10 else f"{took:.1f} ms"
    return f"{counted(ops, 'op')} and {time} a frame" if ops else f"{time} a frame"
