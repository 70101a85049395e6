"""Files dragged onto the window: what each kind is good for."""

from pathlib import Path
from typing import Literal

from PySide6.QtCore import QMimeData

from kvstudio.app.setup.form import VOICE_SUFFIXES

Kind = Literal["recording", "voice", "config", "checkpoint"]

_KINDS: dict[str, Kind] = {
    ".kvrec": "recording",
    ".yaml": "config",
    ".yml": "config",
    ".pt": "checkpoint",
    ".pth": "checkpoint",
    ".ckpt": "checkpoint",
    **dict.fromkeys(VOICE_SUFFIXES, "voice"),
}


def dropped_file(mime: QMimeData) -> tuple[Kind, Path] | None:
    """The first file that the window can use, and as what; None if there is none."""
    for url in mime.urls():
        path = Path(url.toLocalFile())
        kind = _KINDS.get(path.suffix.lower())
        if url.isLocalFile() and kind is not None:
            return kind, path
    return None
