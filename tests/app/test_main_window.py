"""Journeys through the whole window with a fake engine: load, step, run, pause, stop, restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QInputDialog, QLabel, QToolBar

from kvstudio.recording import protocol as p
from kvstudio.recording.spec import DEMO_TEXT
from tests.fake_engine import FakeEngine
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from kvstudio.app.main_window import MainWindow

    Open = Callable[..., MainWindow]

MOVES = ("load", "step", "step_10", "run", "pause", "run_to", "stop", "restart")


def enabled(window: MainWindow) -> set[str]:
    return {move for move in MOVES if window.transport.actions[move].isEnabled()}


def press(window: MainWindow, keys: str) -> None:
    """Triggers the action with this shortcut, as the key would."""
    actions = [a for a in window.actions() if a.shortcut().toString() == keys and a.isEnabled()]
    assert len(actions) == 1, f"{keys}: {[action.text() for action in actions]}"
    actions[0].trigger()


def frames(window: MainWindow) -> int:
    recording = window.workspace.recording
    return 0 if recording is None else len(recording.frames)


def status(window: MainWindow) -> str:
    return window.status.state.text() + " " + window.status.run.text()


def messages(window: MainWindow) -> list[str]:
    return [message.words.text() for message in window.banner.messages]


def recorded(path: Path, steps: int = 8) -> Path:
    FakeRun(path).run(steps)
    return path


# ---- the run -------------------------------------------------------------------------------------


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


def test_the_end_of_a_run_is_told(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    press(window, "F5")
    qtbot.waitUntil(lambda: frames(window) == 10 and engine.state == "ready")
    assert status(window).startswith("the run finished: ended by EOS · demo, voice low · 2")
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


# ---- the frame cursor ----------------------------------------------------------------------------


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


# ---- files ---------------------------------------------------------------------------------------


def test_a_recording_made_elsewhere_is_shown_and_recent(window: MainWindow, tmp_path: Path) -> None:
    path = recorded(tmp_path / "elsewhere.kvrec")
    assert window.open_recording(path)
    assert window.windowTitle() == "elsewhere.kvrec - KVStudio"
    assert "demo, voice low" in status(window)
    window.file_menu.recent_menu.aboutToShow.emit()
    assert [a.data() for a in window.file_menu.recent_menu.actions()] == [str(path)]
    press(window, "Ctrl+W")
    assert window.workspace.recording is None
    assert window.windowTitle() == "KVStudio"
    window.file_menu.recent_menu.actions()[0].trigger()
    assert window.workspace.recording is not None


def test_a_file_that_is_no_recording_is_said_and_the_open_one_stays(
    window: MainWindow, tmp_path: Path
) -> None:
    window.open_recording(recorded(tmp_path / "good.kvrec"))
    bad = tmp_path / "bad.kvrec"
    bad.write_text("hello", encoding="utf-8")
    assert not window.open_recording(bad)
    assert not window.open_recording(tmp_path / "gone.kvrec")
    assert "is not a KVStudio recording" in messages(window)[0]
    assert "there is no such file" in messages(window)[1]
    assert window.windowTitle() == "good.kvrec - KVStudio"
    assert window.settings.recents("recordings") == [str(tmp_path / "good.kvrec")]


def test_save_as_copies_what_is_open(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    assert not window.file_menu.save.isEnabled()
    window.open_recording(recorded(tmp_path / "a.kvrec"))
    window.file_menu.save_to(tmp_path / "b.kvrec")
    qtbot.waitUntil(lambda: bool(messages(window)))
    assert messages(window) == [f"Recording saved to {tmp_path / 'b.kvrec'}."]
    assert window.open_recording(tmp_path / "b.kvrec")
    assert frames(window) == 10


def test_save_that_fails_is_said(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window.open_recording(recorded(tmp_path / "a.kvrec"))
    window.file_menu.save_to(tmp_path / "nowhere" / "b.kvrec")
    qtbot.waitUntil(lambda: bool(messages(window)))
    assert "could not be saved" in messages(window)[0]


def drop(window: MainWindow, path: Path) -> bool:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    copy, buttons, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier
    enter = QDragEnterEvent(QPoint(9, 9), copy, mime, buttons, keys.NoModifier)
    window.dragEnterEvent(enter)
    if enter.isAccepted():
        window.dropEvent(QDropEvent(QPointF(9, 9), copy, mime, buttons, keys.NoModifier))
    return enter.isAccepted()


def test_files_can_be_dropped_anywhere(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "v.wav").touch()
    assert drop(window, tmp_path / "v.wav")
    assert window.setup.form.voice == str(tmp_path / "v.wav")
    assert drop(window, recorded(tmp_path / "r.kvrec"))
    assert window.windowTitle() == "r.kvrec - KVStudio"
    (tmp_path / "notes.txt").touch()
    assert not drop(window, tmp_path / "notes.txt")


def test_old_recordings_are_cleared_but_not_the_open_one(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.folder.folder.mkdir()
    empties = []
    for day in (1, 2):
        run = FakeRun(window.folder.folder / f"2026-12-0{day}.kvrec")
        run.begin_chunk()
        run.writer.finish("stopped")
        empties.append(run.path)
    window.open_recording(empties[0])
    window._clean_folder()
    assert [path.exists() for path in empties] == [True, False]


# ---- trouble -------------------------------------------------------------------------------------


def test_death_in_a_run_keeps_what_there_is(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    press(window, "Shift+F10")
    qtbot.waitUntil(lambda: frames(window) == 10 or engine.state == "held")
    last = frames(window) - 1
    engine.die("The engine ended: killed by SIGKILL.", "terminate called")
    assert messages(window) == [
        f"The engine ended: killed by SIGKILL. The recording up to frame {last} is kept and open."
    ]
    assert window.banner.messages[0].detail.toPlainText() == "terminate called"
    assert enabled(window) == {"restart"}
    press(window, "Alt+Left")
    assert window.workspace.cursor.frame == last - 1
    window.banner.messages[0].buttons["Restart engine"].click()
    qtbot.waitUntil(lambda: engine.state == "empty")
    assert messages(window) == []
    assert "step" in enabled(window)


def test_a_failure_is_told_with_its_details(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.failing["load"] = p.Failed("load", "config.yaml has no flow_lm", "KeyError: 'flow_lm'")
    press(window, "F9")
    qtbot.waitUntil(lambda: bool(messages(window)))
    assert messages(window) == ["config.yaml has no flow_lm"]
    assert window.banner.messages[0].detail.toPlainText() == "KeyError: 'flow_lm'"
    assert "load" in enabled(window)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert messages(window) == []
    bar = window.findChild(QToolBar, "banner_bar")
    assert bar is not None
    assert not bar.isVisible()


def test_a_pause_that_came_too_late_is_not_an_error(window: MainWindow, engine: FakeEngine) -> None:
    engine.tell(p.Failed("pause", "there is no run to pause"))
    assert messages(window) == []


# ---- the window itself ---------------------------------------------------------------------------


def test_layout_and_geometry_are_remembered(open_window: Open) -> None:
    first = open_window(FakeEngine())
    first.resize(first.width(), 700)  # the offscreen screen is 800 high
    first.docks["log"].hide()
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


def test_tooltips_name_their_keys(window: MainWindow) -> None:
    for move in MOVES:
        action = window.transport.actions[move]
        assert f"({action.shortcut().toString()})" in action.toolTip()


def test_no_dialog_is_left_open(window: MainWindow) -> None:
    assert window.findChildren(QDialog) == []
