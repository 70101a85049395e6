"""Writes samples as a WAV file: 16 bits for any player, or 32-bit floats that keep NaN."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from kvstudio.app.file_dialogs import choose_new_file
from kvstudio.app.words import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtWidgets import QFileDialog, QWidget

    from kvstudio.app.sound.track import SoundTrack

WavKind = Literal["16-bit", "float"]

NAME_FILTERS: dict[WavKind, str] = {
    "16-bit": "WAV 16-bit, for any player (*.wav)",
    "float": "WAV 32-bit float, keeps NaN (*.wav)",
}
SUBTYPES: dict[WavKind, str] = {"16-bit": "PCM_16", "float": "FLOAT"}
NOTHING = "there are no samples yet"


class WavExport(QObject):
    """Asks where to save a track's samples, and in which kind of WAV, and does so.

    Signals:
        written: what was written, in words.
        failed: why nothing was, in words, from the fullest to the shortest.
    """

    written = Signal(Path, str)
    failed = Signal(tuple)

    def __init__(self, track: SoundTrack, parent: QWidget) -> None:
        super().__init__(parent)
        self.track, self._window = track, parent

    def ask(self, start: Path) -> QFileDialog:
        """Args: `start`: folder and name to propose."""
        filters = list(NAME_FILTERS.values())
        dialog = choose_new_file(
            self._window,
            "Export WAV",
            filters,
            start,
            lambda path: self.write(path, _kind_for(dialog.selectedNameFilter())),
        )
        return dialog

    def write(self, path: Path, kind: WavKind) -> None:
        try:
            said = write_wav(path, self.track.samples, self.track.sample_rate, kind)
        except OSError as error:
            full = f"The audio could not be written to {path}: {error}."
            self.failed.emit((full, f"Not written: {error}."))
        else:
            self.written.emit(path, said)


def write_wav(
    path: Path, samples: NDArray[np.float32], sample_rate: int, kind: WavKind = "16-bit"
) -> str:
    """Write a file, whole or not at all, and say in words what was written.

    In 16 bits what is not a number becomes silence, and what is beyond full scale is cut off.

    Raises:
        OSError: the file cannot be written; its text says why.
    """
    if not samples.size:
        raise OSError(NOTHING)
    exact = kind == "float"
    encoded = _encoded(samples if exact else _playable(samples), sample_rate, SUBTYPES[kind])
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.write_bytes(encoded)
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise OSError((error.strerror or str(error)).lower()) from error
    return _said(path, samples, sample_rate, exact=exact)


def _encoded(samples: NDArray[np.float32], sample_rate: int, subtype: str) -> bytes:
    import soundfile

    # Through memory: libsndfile does not tell of a disk that fills up.
    file = io.BytesIO()
    soundfile.write(file, samples, sample_rate, subtype=subtype, format="WAV")
    return file.getvalue()


def _playable(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.clip(np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)


def _said(path: Path, samples: NDArray[np.float32], sample_rate: int, *, exact: bool) -> str:
    words = f"{len(samples) / sample_rate:.2f} s of audio written to {path}."
    if exact:
        return words
    if nan := int(np.isnan(samples).sum()):
        verb = "was" if nan == 1 else "were"
        words += f" {counted(nan, 'sample')} {verb} NaN and became silence; a float WAV keeps them."
    if cut := int((np.abs(samples) > 1).sum()):
        words += f" {counted(cut, 'sample')} beyond full scale {'was' if cut == 1 else 'were'} cut."
    return words


def _kind_for(name_filter: str) -> WavKind:
    return "float" if name_filter == NAME_FILTERS["float"] else "16-bit"
