"""The whole window around a fake engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvstudio.app.main_window import MainWindow
from kvstudio.app.recordings_folder import RecordingsFolder
from kvstudio.app.settings import Settings
from kvstudio.app.theme import apply_theme
from tests.fake_engine import FakeEngine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    Open = Callable[..., MainWindow]


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def open_window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Open]:
    """Opens a window around an engine, with settings that all windows of the test share."""
    apply_theme(qapp, "light")
    opened: list[MainWindow] = []

    def open_one(engine: FakeEngine, *, start: bool = True) -> MainWindow:
        window = MainWindow(engine, Settings(), RecordingsFolder(tmp_path / "recordings"))
        qtbot.addWidget(window)
        opened.append(window)
        window.show()
        if start:
            engine.start()
            qtbot.waitUntil(lambda: engine.state == "empty")
        return window

    yield open_one
    for window in opened:
        window.close()
        window.workspace.close()


@pytest.fixture
def window(engine: FakeEngine, open_window: Open) -> MainWindow:
    """A window whose engine is up and has no model."""
    return open_window(engine)
