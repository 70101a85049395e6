"""The File menu: open, recent, save as, export, close, quit."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QProgressDialog

from kvstudio.app.banner import Banner
from kvstudio.app.file_dialogs import ANY, RECORDINGS, choose_file, choose_new_file
from kvstudio.app.saving import RecordingSaver
from kvstudio.app.settings import Settings
from kvstudio.app.workspace import Workspace

RECENT_NAME_LENGTH = 60


class Exporter(Protocol):
    """What asks where to write the audio, and does: the Audio panel."""

    def ask_export(self) -> object: ...


class FileMenu(QObject):
    """Owns the menu's actions and what they do.

    Args:
        ask_export: asks where to write the audio, and does; None if there is no audio panel.
    """

    def __init__(
        self,
        window: QMainWindow,
        workspace: Workspace,
        settings: Settings,
        banner: Banner,
        ask_export: Callable[[], object] | None,
    ) -> None:
        super().__init__(window)
        self._window, self._workspace, self._settings = window, workspace, settings
        self._banner, self._ask_export = banner, ask_export
        self.saver: RecordingSaver | None = None
        self.recent_menu = QMenu("Open &Recent", window)
        self.recent_menu.aboutToShow.connect(self._on_recent_menu_about_to_show)
        self.recent_menu.triggered.connect(self._on_recent_menu_triggered)
        self.open = self._action("&Open Recording…", "Ctrl+O", self.ask_open)
        self.save = self._action("&Save Recording As…", "Ctrl+S", self.ask_save)
        self.export = self._action("&Export WAV…", "Ctrl+E", self.ask_export)
        self.close = self._action("&Close Recording", "Ctrl+W", workspace.close)
        self.quit = self._action("&Quit", "Ctrl+Q", window.close)
        workspace.recording_opened.connect(self._on_workspace_recording_opened)
        self._on_workspace_recording_opened()

    def fill_menu(self, menu: QMenu) -> None:
        menu.addAction(self.open)
        menu.addMenu(self.recent_menu)
        menu.addSeparator()
        for action in (self.save, self.export):
            menu.addAction(action)
        menu.addSeparator()
        for action in (self.close, self.quit):
            menu.addAction(action)

    def open_recording(self, path: Path) -> bool:
        """Opens a file; one that cannot be opened is told by the workspace and forgotten."""
        if not self._workspace.open(path):
            self._settings.forget_recent("recordings", path)
            return False
        self._settings.add_recent("recordings", path)
        return True

    def save_to(self, target: Path) -> None:
        """Copies the open recording to `target`, in the background."""
        recording = self._workspace.recording
        if recording is None:
            return
        self._settings.folder = target.parent
        self.saver = saver = RecordingSaver(recording.path, target, self)
        progress = self._progress_dialog(target)
        saver.progressed.connect(lambda done, total: _show_progress(progress, done, total))
        saver.finished.connect(progress.deleteLater)
        saver.failed.connect(self._banner.show_message)
        saver.saved.connect(lambda: self._on_saver_saved(target))
        saver.start()

    def wait(self) -> None:
        """Lets a copy that is being made come to its end; for closing."""
        if self.saver is not None:
            self.saver.wait()

    # ---- dialogs ------------------------------------------------------------------------------

    def ask_open(self) -> None:
        folder = self._settings.folder
        choose_file(self._window, "Open Recording", [RECORDINGS, ANY], folder, self._on_open_chosen)

    def ask_save(self) -> None:
        recording = self._workspace.recording
        name = recording.path.name if recording is not None else "recording.kvrec"
        start = Path(self._settings.folder) / name
        choose_new_file(self._window, "Save Recording As", [RECORDINGS], start, self.save_to)

    def ask_export(self) -> None:
        if self._ask_export is not None:
            self._ask_export()

    # ---- private ------------------------------------------------------------------------------

    def _action(self, text: str, keys: str, pressed: Callable[[], object]) -> QAction:
        action = QAction(text, self._window)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda: pressed())
        self._window.addAction(action)
        return action

    def _progress_dialog(self, target: Path) -> QProgressDialog:
        dialog = QProgressDialog(f"Saving {target.name}…", "", 0, 0, self._window)
        dialog.setCancelButton(None)
        dialog.setMinimumDuration(500)
        dialog.setWindowTitle("Save Recording As")
        return dialog

    def _on_open_chosen(self, path: Path) -> None:
        self._settings.folder = path.parent
        self.open_recording(path)

    def _on_saver_saved(self, target: Path) -> None:
        self._settings.add_recent("recordings", target)
        self._banner.show_message(f"Recording saved to {target}.", tone="note")

    def _on_recent_menu_about_to_show(self) -> None:
        self.recent_menu.clear()
        for path in self._settings.recents("recordings"):
            if Path(path).is_file():
                action = self.recent_menu.addAction(_shortened(path).replace("&", "&&"))
                action.setData(path)
        if self.recent_menu.isEmpty():
            self.recent_menu.addAction("(none yet)").setEnabled(False)

    def _on_recent_menu_triggered(self, action: QAction) -> None:
        self.open_recording(Path(action.data()))

    def _on_workspace_recording_opened(self) -> None:
        is_open = self._workspace.recording is not None
        for action in (self.save, self.close):
            action.setEnabled(is_open)
        self.export.setEnabled(is_open and self._ask_export is not None)


def _shortened(path: str) -> str:
    return path if len(path) <= RECENT_NAME_LENGTH else f"…{path[-RECENT_NAME_LENGTH:]}"


def _show_progress(dialog: QProgressDialog, done: int, total: int) -> None:
    dialog.setMaximum(total)
    dialog.setValue(done)
