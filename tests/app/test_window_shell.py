"""The window itself: layout, docks, keys, themes, help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QTableView

from kvstudio.app.panels.ledger import LedgerPanel
from kvstudio.app.panels.ops import OpsPanel
from kvstudio.app.panels.tensors import TensorsPanel
from kvstudio.app.shell_style import shell_sheet
from kvstudio.app.theme import DARK, current_palette
from tests.app.shell import MOVES, frames, messages, press, recorded
from tests.fake_engine import FakeEngine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from kvstudio.app.main_window import MainWindow

    Open = Callable[..., MainWindow]


def test_layout_and_geometry_are_remembered(open_window: Open) -> None:
    first = open_window(FakeEngine())
    for key in ("log", "audio", "frames"):
        first.docks[key].hide()
    first.resize(first.width(), 700)  # the offscreen screen is 800 high
    first.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, first.docks["setup"])
    area = first.dockWidgetArea(first.docks["setup"])
    first.close()
    second = open_window(FakeEngine())
    assert second.height() == 700
    assert not second.docks["log"].isVisible()
    assert second.dockWidgetArea(second.docks["setup"]) == area
    second.reset_layout()
    assert second.docks["log"].isVisibleTo(second)
    assert second.dockWidgetArea(second.docks["setup"]) != area


def test_every_dock_can_be_moved_closed_and_floated(window: MainWindow) -> None:
    for dock in window.docks.values():
        assert dock.features() == (
            dock.DockWidgetFeature.DockWidgetClosable
            | dock.DockWidgetFeature.DockWidgetMovable
            | dock.DockWidgetFeature.DockWidgetFloatable
        )
        assert dock.objectName()


def test_plain_keys_work_in_a_floated_dock(window: MainWindow, tmp_path: Path) -> None:
    window.open_recording(recorded(tmp_path / "a.kvrec"))
    dock = window.docks["log"]
    dock.setFloating(True)
    QTest.keyClick(dock, Qt.Key.Key_Left)
    assert window.workspace.cursor.frame == 8
    dock.setFloating(False)
    QTest.keyClick(dock, Qt.Key.Key_Left)
    assert window.workspace.cursor.frame == 7


def test_light_and_dark_are_chosen_in_the_menu(window: MainWindow, qapp: QApplication) -> None:
    actions = {action.text(): action for action in window.findChildren(QAction)}
    light = window.styleSheet()
    actions["&Dark"].trigger()
    assert window.settings.theme == "dark"
    assert current_palette() is DARK
    assert window.styleSheet() == shell_sheet(DARK) != light
    actions["&Light"].trigger()
    assert window.styleSheet() == light


def test_messages_do_not_come_back_with_the_layout(open_window: Open) -> None:
    first = open_window(FakeEngine())
    first.banner.show_message("something")
    assert first.banner_bar.isVisible()
    first.close()
    assert not open_window(FakeEngine()).banner_bar.isVisible()


def test_closing_in_a_run_stops_politely(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    press(window, "F10")
    qtbot.waitUntil(lambda: frames(window) == 2)
    window.close()
    assert engine.was_shut_down
    assert messages(window) == []


def test_every_shortcut_is_unique_and_listed(window: MainWindow) -> None:
    keys = [action.shortcut().toString() for action in window.actions()]
    used = [each for each in keys if each]
    assert len(used) == len(set(used))
    dialog = window.help_menu.show_shortcuts()
    words = " ".join(label.text() for label in dialog.findChildren(QLabel))
    dialog.close()
    assert all(f"<b>{each}</b>" in words for each in used)


def test_about_names_the_engines_versions(window: MainWindow) -> None:
    dialog = window.help_menu.show_about()
    words = " ".join(label.text() for label in dialog.findChildren(QLabel))
    dialog.close()
    assert "pocket-tts 4.0.1" in words
    assert "PySide6" in words


def test_the_tool_bar_stays_put_when_its_words_change(window: MainWindow, tmp_path: Path) -> None:
    buttons = window.transport.buttons

    def places() -> list[tuple[int, int]]:
        return [(each.x(), each.width()) for each in buttons.values()]

    before, words = places(), buttons["step"].text()
    assert window.open_recording(recorded(tmp_path / "a.kvrec"))
    assert (words, buttons["step"].text()) == ("Step", "New run: step")
    QTest.qWait(30)
    assert places() == before
    assert buttons["step"].sizeHint().width() <= buttons["step"].width()


def test_tooltips_name_their_keys(window: MainWindow) -> None:
    for move in MOVES:
        action = window.transport.actions[move]
        assert f"({action.shortcut().toString()})" in action.toolTip()


def test_no_dialog_is_left_open(window: MainWindow) -> None:
    assert window.findChildren(QDialog) == []


def test_the_first_layout_has_room_for_what_tells_most(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window.resize(1280, 800)
    window.reset_layout()
    assert window.open_recording(recorded(tmp_path / "a.kvrec"))
    ops, tensors, ledger = (window.panels[key] for key in ("ops", "tensors", "ledger"))
    assert isinstance(ops, OpsPanel)
    assert isinstance(tensors, TensorsPanel)
    assert isinstance(ledger, LedgerPanel)
    window.workspace.move(frame=5, op=70)
    qtbot.waitUntil(lambda: ops.table.currentIndex().isValid())
    qtbot.wait(50)  # laid out
    chosen = ops.table.visualRect(ops.table.currentIndex())
    assert ops.table.viewport().rect().contains(chosen.adjusted(0, 0, 1 - chosen.width(), 0))
    assert chosen.height() * 2 <= ops.table.viewport().height()
    assert ops.bar.filter.width() > 100
    assert ops.bar.filter.geometry().top() < ops.bar.buttons["all"].geometry().bottom()
    for key in ("tensors", "ledger"):
        window.docks[key].raise_()
    qtbot.waitUntil(tensors.isVisible)
    shape = [column.title for column in tensors.model.columns].index("shape")
    assert _right(tensors.table, shape) <= tensors.table.viewport().width()
    last = ledger.checks.columnCount() - 1
    assert ledger.check_table.columnViewportPosition(last) + 60 < ledger.check_table.width()


def _right(table: QTableView, column: int) -> int:
    return table.columnViewportPosition(column) + table.columnWidth(column)
