"""Guided cases: what they are made of, their two runs, and what is heard and shown of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvstudio.app.cases.case import Case, guided_cases
from kvstudio.app.cases.hints_view import PANEL_WORDS
from kvstudio.app.panels_list import PANELS
from kvstudio.recording import protocol as p
from kvstudio.recording.recipes import RECIPES, values_of
from kvstudio.recording.spec import RunSpec
from tests.app.findings.made import UNWRITTEN
from tests.app.panels.stand_in_player import StandInPlayer
from tests.app.shell import frames, messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from kvstudio.app.main_window import MainWindow
    from kvstudio.app.panels.cases import CasesPanel
    from tests.fake_engine import FakeEngine

    Open = Callable[..., MainWindow]

CASES = guided_cases()


def test_the_three_cases_are_of_three_kinds() -> None:
    kinds = [RECIPES[case.spec.edits[0].recipe].kind for case in CASES]
    assert kinds == ["unwritten-read", "dropped-write", "codec-state-reset"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_case_is_complete(case: Case) -> None:
    assert case.spec.model.kind == "demo"
    for edit in case.spec.edits:
        values_of(edit)
    assert case.healthy.edits == ()
    keys = {kind.key: kind.title for kind in PANELS}
    assert len(case.hints) >= 3
    for hint in case.hints:
        assert PANEL_WORDS[hint.panel] == keys[hint.panel]
    # The hints point at views; the answer is for whoever asks.
    kind = RECIPES[case.spec.edits[0].recipe].kind
    told = " ".join([case.symptom, *(hint.text for hint in case.hints)])
    assert kind not in told


@pytest.fixture(autouse=True)
def _silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvstudio.app.panels.cases.Player", StandInPlayer)


@pytest.fixture
def cases(window: MainWindow) -> CasesPanel:
    window.docks["cases"].raise_()
    return window.cases


def finished(cases: CasesPanel, engine: FakeEngine, qtbot: QtBot) -> None:
    cases.list.run.click()
    qtbot.waitUntil(lambda: not cases.runs.busy and engine.state == "ready")


def specs(engine: FakeEngine) -> list[RunSpec]:
    return [RunSpec.from_dict(c.spec) for c in engine.commands if isinstance(c, p.Start)]


def test_run_it_makes_the_healthy_run_unseen_and_shows_the_faulty_one(
    window: MainWindow, cases: CasesPanel, engine: FakeEngine, qtbot: QtBot
) -> None:
    shown: list[int] = []
    window.workspace.recording_opened.connect(lambda: shown.append(1))
    finished(cases, engine, qtbot)
    assert specs(engine) == [CASES[0].healthy, CASES[0].spec]
    assert len(shown) == 1
    recording = window.workspace.recording
    assert recording is not None
    assert recording.spec == CASES[0].spec
    assert frames(window) == 10
    assert all(button.isEnabled() for button in cases.sounds.buttons.values())


def test_a_second_time_only_the_faulty_run_is_made(
    cases: CasesPanel, engine: FakeEngine, qtbot: QtBot
) -> None:
    finished(cases, engine, qtbot)
    finished(cases, engine, qtbot)
    assert specs(engine) == [CASES[0].healthy, CASES[0].spec, CASES[0].spec]


def test_both_are_heard_one_after_the_other(
    cases: CasesPanel, engine: FakeEngine, qtbot: QtBot
) -> None:
    finished(cases, engine, qtbot)
    player = cases.sound.player
    assert isinstance(player, StandInPlayer)
    cases.sounds.buttons["healthy", "faulty"].click()
    assert cases.sound.heard == "healthy"
    assert "Now the healthy run" in cases.sounds.words.text()
    player.hear(player.length - 1)
    assert cases.sound.heard == "faulty"
    cases.sounds.buttons["healthy", "faulty"].click()
    assert cases.sound.heard == ""
    assert not player.playing


def test_hints_come_one_by_one_and_the_answer_when_asked(
    window: MainWindow, cases: CasesPanel, qtbot: QtBot
) -> None:
    view = cases.hints
    assert view.hints.isHidden()
    assert view.answer.isHidden()
    view.more.click()
    assert CASES[0].hints[0].text in view.hints.text()
    assert CASES[0].hints[1].text not in view.hints.text()
    window.docks["audio"].hide()
    view.hints.linkActivated.emit("audio")
    assert window.docks["audio"].isVisible()
    view.reveal.click()
    assert not view.answer.isHidden()
    cases.list.buttons[1].setChecked(True)
    assert view.answer.isHidden()
    assert cases.list.symptom.text() == CASES[1].symptom


def test_stopping_a_case_says_so(
    window: MainWindow, cases: CasesPanel, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.frames = 100_000
    cases.list.run.click()
    qtbot.waitUntil(lambda: engine.state == "running")
    window.control.stop()
    qtbot.waitUntil(lambda: not cases.runs.busy)
    assert "Stopped" in cases.sounds.words.text()
    assert cases.list.run.isEnabled()


def test_a_failure_and_a_death_end_the_case(
    cases: CasesPanel, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.failing["start"] = p.Failed("start", "no such voice")
    cases.list.run.click()
    qtbot.waitUntil(lambda: not cases.runs.busy)
    assert "message above" in cases.sounds.words.text()
    engine.frames = 100_000
    cases.list.run.click()
    qtbot.waitUntil(lambda: engine.state == "running")
    engine.die()
    assert "engine is gone" in cases.sounds.words.text()


def test_the_demo_and_the_help_menu_offer_them(
    engine: FakeEngine, open_window: Open, qtbot: QtBot
) -> None:
    window = open_window(engine)
    assert window.cases.visibleRegion().isEmpty()
    window.findings.empty.cases.click()
    qtbot.waitUntil(lambda: not window.cases.visibleRegion().isEmpty())
    window.docks["setup"].raise_()
    window.begin_demo()
    qtbot.waitUntil(lambda: not window.cases.visibleRegion().isEmpty())


def test_the_buttons_of_the_hints_stay_where_they_are(
    window: MainWindow, cases: CasesPanel, engine: FakeEngine, qtbot: QtBot
) -> None:
    window.resize(1280, 800)
    bar = cases.hints.bar

    def place() -> tuple[int, int, int]:
        qtbot.wait(30)  # laid out
        return bar.y(), cases.hints.more.y(), cases.hints.reveal.y()

    qtbot.waitUntil(lambda: bar.geometry().bottom() == cases.rect().bottom())
    first = place()
    for button in cases.list.buttons:
        button.setChecked(True)
        assert place() == first
    finished(cases, engine, qtbot)
    for _ in CASES[2].hints:
        cases.hints.more.click()
        assert place() == first
    cases.hints.reveal.click()
    assert place() == first
    bottom = cases.page.verticalScrollBar()
    qtbot.waitUntil(lambda: bottom.value() == bottom.maximum())
    assert not cases.hints.answer.visibleRegion().isEmpty()


def solved(window: MainWindow) -> bool:
    """Whether the findings are told."""
    window.findings.refresh_now()
    told = window.findings.model.rowCount() > 0
    assert window.findings.empty.isHidden() == told
    return told


@pytest.fixture
def found(engine: FakeEngine) -> FakeEngine:
    """Finds something in every run."""
    engine.findings = [UNWRITTEN]
    return engine


def test_what_was_found_waits_until_the_user_asks(
    window: MainWindow, cases: CasesPanel, found: FakeEngine, qtbot: QtBot
) -> None:
    finished(cases, found, qtbot)
    assert not solved(window)
    findings = window.findings
    assert findings.verdict.title.text() == "1 finding"
    assert "guided case" in findings.empty.words.text()
    assert UNWRITTEN.kind not in findings.empty.words.text()
    cases.hints.more.click()
    assert not solved(window)
    findings.empty.answer.click()
    assert solved(window)
    assert UNWRITTEN.message in findings.chain.toPlainText()
    finished(cases, found, qtbot)  # known once, it is no secret any more
    assert solved(window)


def test_the_answer_shows_what_was_found_also_in_a_run_made_again(
    window: MainWindow, cases: CasesPanel, found: FakeEngine, qtbot: QtBot
) -> None:
    finished(cases, found, qtbot)
    window.control.restart()
    qtbot.waitUntil(lambda: found.state == "held")
    window.control.run()
    qtbot.waitUntil(lambda: found.state == "ready")
    assert not solved(window)
    cases.hints.reveal.click()
    assert solved(window)


def test_any_other_run_hides_nothing(
    window: MainWindow, cases: CasesPanel, found: FakeEngine, qtbot: QtBot
) -> None:
    finished(cases, found, qtbot)
    assert not solved(window)
    window.control.run()
    qtbot.waitUntil(lambda: found.state == "running")
    qtbot.waitUntil(lambda: found.state == "ready")
    assert solved(window)


def test_a_message_names_nothing_that_waits(
    window: MainWindow, cases: CasesPanel, found: FakeEngine, qtbot: QtBot
) -> None:
    window.docks["findings"].hide()
    finished(cases, found, qtbot)
    assert messages(window) == ["Something was found."]
