"""Journeys through the whole window with a fake engine, and the frame cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog

from kvstudio.recording.spec import DEMO_TEXT
from tests.app.shell import MOVES, enabled, frames, messages, press, recorded, status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.main_window import MainWindow
    from tests.fake_engine import FakeEngine

    Open = Callable[..., MainWindow]


def test_load_step_run_pause_stop_restart(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.frames = 400
    assert enabled(window) == {"load", "step", "step_10", "run", "run_to"}
    press(window, "F9")
    qtbot.waitUntil(lambda: engine.state == "ready")
    press(window, "F10")
    qtbot.waitUntil(lambda: frames(window) == 2 and engine.state == "held")
    assert enabled(window) == set(MOVES) - {"pause"}
    assert "held before frame 2" in status(window)
    press(window, "Shift+F10")
    qtbot.waitUntil(lambda: frames(window) == 12)
    press(window, "F5")
    qtbot.waitUntil(lambda: "pause" in enabled(window))
    assert enabled(window) == {"pause", "stop", "restart"}
    assert status(window).startswith("running")
    press(window, "F6")
    qtbot.waitUntil(lambda: engine.state == "held")
    assert frames(window) < 400
    press(window, "Shift+F5")
    qtbot.waitUntil(lambda: engine.state == "ready")
    assert "was stopped before frame" in status(window)
    press(window, "Ctrl+F5")
    qtbot.waitUntil(lambda: frames(window) == 1 and engine.state == "held")
    assert messages(window) == []


def test_run_to_frame_asks_and_runs(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    press(window, "F10")
    qtbot.waitUntil(lambda: frames(window) == 2 and engine.state == "held")
    press(window, "F7")
    dialog = window.findChild(QInputDialog)
    assert dialog is not None
    assert dialog.intMinimum() == 2
    dialog.setIntValue(6)
    dialog.accept()
    qtbot.waitUntil(lambda: frames(window) == 7 and engine.state == "held")


def test_the_question_goes_when_the_engine_dies(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    press(window, "F10")
    qtbot.waitUntil(lambda: frames(window) == 2 and engine.state == "held")
    press(window, "F7")
    dialog = window.findChild(QInputDialog)
    assert dialog is not None
    assert "2 or a later one" in dialog.labelText()
    engine.die()
    qtbot.waitUntil(lambda: window.findChild(QInputDialog) is None)
    assert frames(window) == 2


def test_the_end_of_a_run_is_told(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    press(window, "F5")
    qtbot.waitUntil(lambda: frames(window) == 10 and engine.state == "ready")
    assert status(window).startswith("the run finished: ended by EOS · F10 begins a new run")
    assert "ops and 42 ms a frame" in status(window)


def test_the_demo_starts_by_itself_held_at_its_first_step(
    engine: FakeEngine, open_window: Open, qtbot: QtBot
) -> None:
    window = open_window(engine, start=False)
    window.setup.text_section.text.setPlainText("something of yesterday")
    window.begin_demo()
    engine.start()
    qtbot.waitUntil(lambda: engine.state == "held")
    assert frames(window) == 1
    assert window.setup.spec().text == DEMO_TEXT
    assert "step" in enabled(window)
    press(window, "F10")
    qtbot.waitUntil(lambda: frames(window) == 2)
    press(window, "Shift+F5")
    qtbot.waitUntil(lambda: engine.state == "ready")
    qtbot.wait(20)
    assert engine.names.count("start") == 1  # it does not begin again by itself


def test_setups_buttons_do_what_they_say(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    window.setup.load.click()
    qtbot.waitUntil(lambda: engine.state == "ready")
    assert window.setup.model_section.aside.text() == "loaded"
    qtbot.waitUntil(window.setup.budget.table.isVisible)
    window.setup.start.click()
    qtbot.waitUntil(lambda: engine.state == "held")
    assert window.windowTitle().endswith("_demo_low.kvrec - KVStudio")


def test_a_load_can_be_cancelled(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.stuck_loading = True
    press(window, "F9")
    qtbot.waitUntil(lambda: "8.7\u00a0MB" in window.setup.progress.words.text())
    window.setup.progress.cancel.click()
    qtbot.waitUntil(lambda: engine.state == "empty")
    assert not window.setup.progress.isVisible()
    assert messages(window) == ["Load was cancelled"]
    assert window.banner.messages[0].tone == "note"


def test_no_text_means_no_run(window: MainWindow) -> None:
    window.setup.text_section.text.clear()
    assert enabled(window) == {"load"}
    assert not window.setup.start.isEnabled()
    window.setup.text_section.text.setPlainText("Again.")
    assert "step" in enabled(window)


def test_keys_move_the_frame_cursor(window: MainWindow, tmp_path: Path) -> None:
    window.open_recording(recorded(tmp_path / "a.kvrec"))
    label, cursor = window.transport.frame_words, window.workspace
    window.setFocus()
    assert label.text() == "frame 9 / 9"
    QTest.keyClick(window, Qt.Key.Key_Left)
    assert (cursor.cursor.frame, label.text()) == (8, "frame 8 / 9")
    QTest.keyClick(window, Qt.Key.Key_Home)
    assert cursor.cursor.frame == 0
    assert not window.transport.actions["back"].isEnabled()
    QTest.keyClick(window, Qt.Key.Key_Right)
    assert cursor.cursor.frame == 1
    press(window, "Alt+End")
    assert cursor.cursor.frame == 9
    press(window, "Alt+Left")
    assert cursor.cursor.frame == 8


def test_arrows_in_a_text_field_stay_there(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_recording(recorded(tmp_path / "a.kvrec"))
    text = window.setup.text_section.text
    text.setFocus()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Right):
        QTest.keyClick(text, key)
    assert window.workspace.cursor.frame == 9


def test_looking_back_lets_go_of_the_run_and_follow_takes_it_up(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    press(window, "Shift+F10")
    engine.frames = 400
    qtbot.waitUntil(lambda: frames(window) == 11 and engine.state == "held")
    follow = window.transport.actions["follow"]
    assert follow.isChecked()
    press(window, "Alt+Left")
    assert not follow.isChecked()
    press(window, "F10")
    qtbot.waitUntil(lambda: frames(window) == 12)
    assert window.workspace.cursor.frame == 9
    follow.trigger()
    assert (window.workspace.cursor.frame, follow.isChecked()) == (11, True)
    follow.trigger()
    assert not window.workspace.following
