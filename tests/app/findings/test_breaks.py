"""Runs that hold at findings: the moves, the checklist, the words, and where one is led."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from kvstudio.analysis.origins import ORDER
from kvstudio.app.findings.break_menu import BreakMenu
from kvstudio.app.findings.kinds import KIND_WORDS
from kvstudio.app.settings import Settings
from kvstudio.recording import protocol as p
from tests.app.findings.made import NO_EOS, READ_OP, UNWRITTEN
from tests.app.shell import frames, messages, press, status

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from kvstudio.app.main_window import MainWindow
    from tests.fake_engine import FakeEngine

    Open = Callable[..., MainWindow]

ICON_ONLY = Qt.ToolButtonStyle.ToolButtonIconOnly


def test_every_kind_has_words() -> None:
    assert set(KIND_WORDS) == set(ORDER)


def test_run_to_finding_holds_there_says_why_and_shows_the_origin(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.frames, engine.findings = 40, [UNWRITTEN]
    press(window, "Shift+F7")
    qtbot.waitUntil(lambda: frames(window) == 4 and engine.state == "held")
    assert "held before frame 4: unwritten-read in frame 3" in status(window)
    cursor = window.workspace.cursor
    assert (cursor.frame, cursor.op, cursor.cache, cursor.slot) == (3, READ_OP, 1, 13)
    assert window.workspace.findings.chosen == UNWRITTEN
    assert window.findings.verdict.is_flashing
    assert messages(window) == []  # no dialog, no banner
    assert "1 finding so far" in window.status.verdict.text()
    press(window, "F10")
    qtbot.waitUntil(lambda: frames(window) == 5 and engine.state == "held")
    assert "unwritten-read" not in window.status.state.text()


def test_run_does_not_hold_at_a_finding(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.findings = [UNWRITTEN]
    press(window, "F5")
    qtbot.waitUntil(lambda: engine.state == "ready")
    assert frames(window) == 10
    assert window.workspace.findings.standing == "findings"


def test_a_hidden_dock_leaves_a_note_instead(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    window.docks["findings"].hide()
    engine.findings = [UNWRITTEN, NO_EOS]
    press(window, "F5")
    qtbot.waitUntil(lambda: engine.state == "ready")
    assert messages(window) == ["Found: unwritten-read in frame 3."]
    window.banner.messages[0].buttons["Show findings"].click()
    assert window.docks["findings"].isVisible()


def test_a_ticked_kind_holds_every_run(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    window.breaks.boxes["no-eos"].trigger()
    engine.frames, engine.findings = 40, [UNWRITTEN, NO_EOS]
    press(window, "F5")
    qtbot.waitUntil(lambda: frames(window) == 6 and engine.state == "held")
    assert window.breaks.title() == "&Break on (1)"


def test_the_checklist_is_remembered_and_told_to_an_engine_that_comes_up(
    engine: FakeEngine, open_window: Open, qtbot: QtBot
) -> None:
    menu = BreakMenu(Settings())
    assert menu.kinds == []  # Run goes on to the end, as it says
    menu.every.trigger()
    open_window(engine)
    qtbot.waitUntil(lambda: any(isinstance(each, p.Break) for each in engine.commands))
    told = [each.kinds for each in engine.commands if isinstance(each, p.Break)]
    assert [set(kinds) for kinds in told] == [set(KIND_WORDS)]
    menu.every.trigger()
    assert BreakMenu(Settings()).kinds == []


def test_n_goes_from_finding_to_finding(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    assert not window.finding_actions.next.isEnabled()
    engine.findings = [UNWRITTEN, NO_EOS]
    press(window, "F5")
    qtbot.waitUntil(lambda: engine.state == "ready")
    press(window, "N")
    assert window.workspace.cursor.frame == 5
    press(window, "Shift+N")
    assert window.workspace.cursor.frame == 3


def test_the_tool_bar_shows_that_there_are_breaks(window: MainWindow) -> None:
    button = window.transport.buttons["run_to_finding"]
    assert button.toolButtonStyle() == ICON_ONLY
    window.breaks.boxes["no-eos"].trigger()
    window.breaks.boxes["overwrite"].trigger()
    assert button.text().strip() == "2 breaks"
    assert button.toolButtonStyle() != ICON_ONLY
    assert "Every run holds at: overwrite, no-eos" in button.toolTip()
    window.breaks.every.trigger()
    assert button.text().strip() == "Break on any"
    assert button.toolTip().endswith("Every run holds at: any finding")
    window.breaks.every.trigger()
    assert button.toolButtonStyle() == ICON_ONLY
    assert "holds at:" not in button.toolTip()


def test_breaks_of_the_last_session_are_on_the_tool_bar(
    engine: FakeEngine, open_window: Open
) -> None:
    Settings().remember("breaks", {"kinds": ["no-eos"]})
    window = open_window(engine)
    assert window.transport.buttons["run_to_finding"].text().strip() == "1 break"
