"""How the window comes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from kvstudio.app.layout import Settling
from kvstudio.app.main_window import MainWindow
from kvstudio.app.recordings_folder import RecordingsFolder
from kvstudio.app.running import show_whole
from kvstudio.app.settings import Settings
from tests.fake_engine import FakeEngine

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


def make_window(qtbot: QtBot, folder: Path) -> MainWindow:
    window = MainWindow(FakeEngine(), Settings(), RecordingsFolder(folder))
    qtbot.addWidget(window)
    return window


def dock_heights(window: MainWindow) -> dict[str, int]:
    return {key: dock.height() for key, dock in window.docks.items() if dock.isVisible()}


def test_a_window_that_is_too_big_for_the_screen_comes_up_maximized(
    qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window(qtbot, tmp_path)
    room = window.screen().availableSize()
    window.resize(room)  # its title bar and its status line would not fit
    show_whole(window, Settings())
    assert window.isMaximized()
    window.close()


def test_a_window_is_where_and_as_big_as_it_was(qtbot: QtBot, tmp_path: Path) -> None:
    first = make_window(qtbot, tmp_path)
    first.show()
    first.resize(first.minimumSizeHint().width(), 760)
    first.close()
    second = make_window(qtbot, tmp_path)
    show_whole(second, Settings())
    assert not second.isMaximized()
    assert second.height() == 760
    second.close()


def test_the_layout_of_a_maximized_window_stays_as_it_was(qtbot: QtBot, tmp_path: Path) -> None:
    first = make_window(qtbot, tmp_path)
    first.resize(first.minimumSizeHint().width(), 600)
    show_whole(first, Settings())
    first.showMaximized()
    qtbot.waitUntil(lambda: first.height() > 700)
    qtbot.waitUntil(lambda: first.findChild(Settling) is None)
    first.resizeDocks([first.docks["audio"]], [150], Qt.Orientation.Vertical)
    qtbot.wait(100)
    before = dock_heights(first)
    first.close()
    second = make_window(qtbot, tmp_path)
    show_whole(second, Settings())
    qtbot.waitUntil(lambda: dock_heights(second) == before)
    second.close()
