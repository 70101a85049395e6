"""Setup: files dropped on it or chosen by dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit

from kvstudio.recording.spec import ModelSource
from tests.app.panels.test_setup import make

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.panels.setup import SetupPanel


@pytest.fixture
def setup(qtbot: QtBot) -> SetupPanel:
    return make(qtbot)


def mime_of(path: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    return mime


def drop(setup: SetupPanel, path: Path) -> bool:
    """Drags a file onto the panel; whether it was taken."""
    mime, copy = mime_of(path), Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), copy, mime, buttons, keys)
    setup.dragEnterEvent(enter)
    if enter.isAccepted():
        setup.dropEvent(QDropEvent(QPointF(5, 5), copy, mime, buttons, keys))
    return enter.isAccepted()


@pytest.mark.parametrize("name", ["a.wav", "b.FLAC", "c.safetensors", "größe mit leer.ogg"])
def test_a_dropped_voice_is_filled_in(setup: SetupPanel, tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert drop(setup, tmp_path / name)
    assert setup.form.voice == str(tmp_path / name)
    assert setup.voice_section.choice.currentText() == str(tmp_path / name)


def test_a_dropped_config_or_checkpoint_becomes_the_model(
    setup: SetupPanel, tmp_path: Path
) -> None:
    for name, kind in (("a.yaml", "config"), ("b.pt", "checkpoint")):
        (tmp_path / name).touch()
        assert drop(setup, tmp_path / name)
        assert setup.model() == ModelSource(kind, str(tmp_path / name))  # type: ignore[arg-type]


def test_what_the_panel_cannot_use_is_left_to_the_window(setup: SetupPanel, tmp_path: Path) -> None:
    assert not drop(setup, tmp_path / "a.kvrec")
    assert not drop(setup, tmp_path / "a.txt")


def test_text_fields_leave_files_to_the_panel(setup: SetupPanel, tmp_path: Path) -> None:
    mime = mime_of(tmp_path / "a.wav")
    assert not setup.text_section.text.canInsertFromMimeData(mime)
    mime = QMimeData()
    mime.setText("words")
    assert setup.text_section.text.canInsertFromMimeData(mime)
    assert not any(line.acceptDrops() for line in setup.voice_section.findChildren(QLineEdit))


def test_a_voice_can_be_chosen_by_dialog(setup: SetupPanel, tmp_path: Path) -> None:
    (tmp_path / "a.wav").touch()
    setup.voice_section.button.click()
    dialog = setup.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "a.wav"))
    dialog.reject()
    assert setup.form.voice == str(tmp_path / "a.wav")
