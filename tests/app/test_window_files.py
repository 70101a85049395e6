"""Files and failures in the whole window: open, recent, save, drop, and what goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolBar

from kvstudio.recording import protocol as p
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.app.shell import enabled, frames, messages, press, recorded, status
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from kvstudio.app.main_window import MainWindow
    from tests.fake_engine import FakeEngine


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


def test_a_recordings_settings_can_be_used_again(window: MainWindow, tmp_path: Path) -> None:
    spec = RunSpec(text="As it was.", seed=9, temperature=0.25, copy_state=False)
    assert not window.use_settings.isEnabled()
    FakeRun(tmp_path / "a.kvrec", spec=spec).run(2)
    window.open_recording(tmp_path / "a.kvrec")
    window.use_settings.trigger()
    assert window.setup.spec() == spec


def test_the_settings_of_a_script_are_refused_in_words(window: MainWindow, tmp_path: Path) -> None:
    filled_in = window.setup.form
    spec = RunSpec(model=ModelSource("script", "a model of a script"), voice="of a script", text="")
    FakeRun(tmp_path / "a.kvrec", spec=spec).run(2)
    window.open_recording(tmp_path / "a.kvrec")
    window.use_settings.trigger()
    assert messages(window) == [
        "This recording's settings cannot be used: it was recorded from a script, which chose "
        "model, voice and texts"
    ]
    assert window.setup.form == filled_in


def test_death_in_a_run_keeps_what_there_is(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.frames = 40
    press(window, "Shift+F10")
    qtbot.waitUntil(lambda: frames(window) == 11 and engine.state == "held")
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


def test_the_notice_of_a_death_goes_with_it(window: MainWindow, engine: FakeEngine) -> None:
    engine.die()
    assert len(messages(window)) == 1
    press(window, "Ctrl+F5")
    assert messages(window) == []


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
