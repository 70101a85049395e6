"""What every dock of the window has in common: following the workspace, one repaint a tick."""

from enum import Flag, auto
from typing import ClassVar

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from kvstudio.app.workspace import Cursor, Workspace

TICK_MS = 16


class Changed(Flag):
    """What is different since a panel last refreshed."""

    NOTHING = 0
    RECORDING = auto()
    FRAMES = auto()
    FRAME = auto()
    OP = auto()
    CACHE = auto()
    SLOT = auto()
    SECOND = auto()
    FINDINGS = auto()  # others, another verdict, or another one is chosen
    STYLE = auto()
    ALL = RECORDING | FRAMES | FRAME | OP | CACHE | SLOT | SECOND | FINDINGS | STYLE


class Panel(QWidget):
    """Base of the panels.

    A subclass overrides `refresh`, which is called at most once a tick, with everything that
    changed since the last call, and never while the panel is hidden: a hidden panel costs nothing
    and is made right when it is shown.

    Attributes:
        title: the dock's title.
        key: the name under which the layout is remembered.
    """

    title: ClassVar[str]
    key: ClassVar[str]

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self.setObjectName(self.key)
        self._changed = Changed.ALL
        self._tick = QTimer(self, singleShot=True, interval=TICK_MS)
        self._tick.timeout.connect(self.refresh_now)
        workspace.recording_opened.connect(self._on_recording_opened)
        workspace.frames_added.connect(self._on_frames_added)
        workspace.run_ended.connect(self._on_frames_added)
        workspace.cursor_moved.connect(self._on_cursor_moved)
        workspace.findings.changed.connect(self._on_findings_changed)

    def refresh(self, changed: Changed) -> None:
        """Shows the workspace as it is now; `changed` says what is different."""
        raise NotImplementedError

    def refresh_now(self) -> None:
        """Refreshes without waiting for the tick, if anything changed and somebody can see it."""
        self._tick.stop()
        if self._changed and self.isVisible():
            changed, self._changed = self._changed, Changed.NOTHING
            self.refresh(changed)

    def mark(self, changed: Changed) -> None:
        """Asks for a refresh at the next tick."""
        self._changed |= changed
        if self.isVisible() and not self._tick.isActive():
            self._tick.start()

    # ---- private ------------------------------------------------------------------------------

    def _on_recording_opened(self) -> None:
        self.mark(Changed.ALL)

    def _on_frames_added(self) -> None:
        self.mark(Changed.FRAMES)

    def _on_cursor_moved(self, old: Cursor, new: Cursor) -> None:
        differs = Changed.NOTHING
        for name, flag in _CURSOR_FLAGS:
            if getattr(old, name) != getattr(new, name):
                differs |= flag
        self.mark(differs)

    def _on_findings_changed(self) -> None:
        self.mark(Changed.FINDINGS)

    # ---- Qt overrides -------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh_now()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.mark(Changed.STYLE)


_CURSOR_FLAGS = (
    ("frame", Changed.FRAME),
    ("op", Changed.OP),
    ("cache", Changed.CACHE),
    ("slot", Changed.SLOT),
    ("second", Changed.SECOND),
)
