"""File dialogs that do not stop the window: the choice arrives by a call."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

AUDIO = "Voices (*.wav *.flac *.ogg *.oga *.opus *.mp3 *.aif *.aiff *.au *.caf *.w64 *.safetensors)"
ANY = "All files (*)"
CONFIGS = "Model configs (*.yaml *.yml)"
CHECKPOINTS = "Checkpoints (*.pt *.pth *.ckpt *.safetensors)"
RECORDINGS = "Recordings (*.kvrec)"


def choose_file(
    parent: QWidget, title: str, filters: list[str], folder: str, chosen: Callable[[Path], object]
) -> QFileDialog:
    """Asks for a file that exists."""
    dialog = _dialog(parent, title, filters, folder, chosen)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.open()
    return dialog


def choose_new_file(
    parent: QWidget, title: str, filters: list[str], start: Path, chosen: Callable[[Path], object]
) -> QFileDialog:
    """Asks where to save; warns before a file that exists is replaced."""
    dialog = _dialog(parent, title, filters, str(start.parent), chosen)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(start.suffix.removeprefix("."))
    dialog.selectFile(start.name)
    dialog.open()
    return dialog


def _dialog(
    parent: QWidget, title: str, filters: list[str], folder: str, chosen: Callable[[Path], object]
) -> QFileDialog:
    dialog = QFileDialog(parent, title, folder)
    dialog.setNameFilters(filters)
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.finished.connect(dialog.deleteLater)
    return dialog
