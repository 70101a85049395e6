"""Left and Right step frames wherever the focus is, but where one types or walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.app.shell import recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from kvstudio.app.main_window import MainWindow
    from kvstudio.app.panels.cache_map import CacheMapPanel
    from kvstudio.app.panels.ops import OpsPanel

    Where = Callable[[MainWindow], QWidget]


def ops(window: MainWindow) -> OpsPanel:
    return cast("OpsPanel", window.panels["ops"])


def strips(window: MainWindow) -> QWidget:
    return cast("CacheMapPanel", window.panels["cache_map"]).strips


def press_left(window: MainWindow, where: QWidget, qtbot: QtBot) -> int:
    """How far the cursor went."""
    before = window.workspace.cursor.frame
    window.activateWindow()
    where.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is where)
    QTest.keyClick(where, Qt.Key.Key_Left)
    after = window.workspace.cursor.frame
    assert before is not None
    assert after is not None
    return after - before


@pytest.fixture
def opened(window: MainWindow, tmp_path: Path) -> MainWindow:
    window.open_recording(recorded(tmp_path / "a.kvrec"))
    for panel in window.panels.values():
        panel.refresh_now()
    return window


@pytest.mark.parametrize(
    "where",
    [
        lambda window: ops(window).table,
        lambda window: ops(window).bar.buttons["all"],
        lambda window: ops(window).details.source.text,
        lambda window: window.panels["audio"].view,
        lambda window: window.setup.load,
        lambda window: window.findings.empty,
    ],
    ids=["table", "button", "source", "sound", "setup", "findings"],
)
def test_it_steps(opened: MainWindow, where: Where, qtbot: QtBot) -> None:
    opened.workspace.move(op=25)
    for panel in opened.panels.values():
        panel.refresh_now()
    assert press_left(opened, where(opened), qtbot) == -1


@pytest.mark.parametrize(
    "where",
    [
        lambda window: ops(window).bar.filter,
        lambda window: window.setup.text_section.text,
        strips,
    ],
    ids=["filter", "text", "map"],
)
def test_it_types_or_walks(opened: MainWindow, where: Where, qtbot: QtBot) -> None:
    assert press_left(opened, where(opened), qtbot) == 0
