"""Runs a recorded run again with one more edit; the recording that is open stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from kvstudio.app.setup.edit_form import EditForm
from kvstudio.app.setup.form import SetupForm
from kvstudio.recording.errors import RecordingError, SpecError
from kvstudio.recording.recipes import values_of

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.app.banner import Banner
    from kvstudio.app.panels.setup import SetupPanel
    from kvstudio.app.run_control import RunControl
    from kvstudio.app.workspace import Workspace
    from kvstudio.recording.spec import Edit


class Forking(QObject):
    """A run is the same for the same seed, so going back is running again."""

    def __init__(
        self, workspace: Workspace, control: RunControl, setup: SetupPanel, banner: Banner
    ) -> None:
        super().__init__(banner)
        self._workspace, self._control = workspace, control
        self._setup, self._banner = setup, banner

    def run_again(self, edit: Edit) -> None:
        """The open recording's run with one more edit, held after the frame it acts on."""
        recording = self._workspace.recording
        if recording is None:
            return
        try:
            values_of(edit)
            spec = recording.spec.with_edit(edit)
            spec.require_runnable()
        except (SpecError, RecordingError) as error:
            self._banner.show_message(f"The run cannot be repeated with this edit: {error}.")
            return
        before = recording.path
        self._setup.show_form(SetupForm.of_spec(spec))
        self._control.run_edited(spec, until=edit.frame)
        words = (
            f"Running again with {EditForm.of(edit).summary}. Setup lists the edit. The run "
            "before is kept."
        )
        self._banner.show_message(
            words, tone="note", action=("Show the run before", lambda: self._open(before))
        )

    def _open(self, path: Path) -> None:
        self._workspace.open(path)
