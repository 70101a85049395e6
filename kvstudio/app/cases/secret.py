"""Whose answers are still to be found: what was found would give them away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from kvstudio.recording.errors import RecordingError

if TYPE_CHECKING:
    from kvstudio.app.cases.case import Case
    from kvstudio.app.workspace import Workspace


class Secret(QObject):
    """Knows runs by their spec, so that a case is still one when it is run again, step by step.

    Signals:
        kept_changed: whether the open recording is of a case that somebody is at work on.
    """

    kept_changed = Signal(bool)

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_kept = False
        self._workspace = workspace
        self._begun: set[str] = set()  # specs as JSON
        self._told: set[str] = set()
        workspace.recording_opened.connect(self._look)

    def begin(self, case: Case) -> None:
        """A case is run to be solved."""
        self._begun.add(case.spec.to_json())
        self._look()

    def tell(self, case: Case) -> None:
        """Its answer has been shown."""
        self._told.add(case.spec.to_json())
        self._look()

    def tell_open(self) -> None:
        """What was found in the open recording is to be seen."""
        self._told.add(self._open_spec())
        self._look()

    # ---- private ------------------------------------------------------------------------------

    def _look(self) -> None:
        is_kept = self._open_spec() in self._begun - self._told
        if is_kept != self.is_kept:
            self.is_kept = is_kept
            self.kept_changed.emit(is_kept)

    def _open_spec(self) -> str:
        recording = self._workspace.recording
        try:
            return "" if recording is None else recording.spec.to_json()
        except RecordingError:
            return ""
