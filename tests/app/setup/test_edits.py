"""Edits in Setup: chosen from the catalogue, typed, checked in place, part of the spec."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from kvstudio.app.panels.setup import SetupPanel
from kvstudio.app.settings import Settings
from kvstudio.app.setup.edit_form import EditForm
from kvstudio.app.setup.fields import Choice
from kvstudio.app.setup.form import SetupForm
from kvstudio.app.workspace import Workspace
from kvstudio.recording.recipes import GROUPS
from kvstudio.recording.spec import Edit, RunSpec

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu
    from pytestqt.qtbot import QtBot

    from kvstudio.app.setup.edit_card import EditCard


@pytest.fixture
def setup(qtbot: QtBot) -> SetupPanel:
    panel = SetupPanel(Workspace(), settings=Settings())
    qtbot.addWidget(panel)
    panel.resize(300, 760)
    panel.show()
    return panel


def add(setup: SetupPanel, recipe: str) -> EditCard:
    section = setup.edits_section
    groups = [cast("QMenu", action.menu()) for action in section.menu.actions()]
    actions = {each.text(): each for group in groups for each in group.actions()}
    actions[recipe].trigger()
    return section.cards[-1]


def type_into(field: object, text: str) -> None:
    assert isinstance(field, QLineEdit)
    field.clear()
    QTest.keyClicks(field, text)


def test_there_are_none_at_first(setup: SetupPanel) -> None:
    assert setup.spec().edits == ()
    assert "None" in setup.edits_section.note.text()


def test_every_recipe_of_the_catalogue_can_be_added_as_it_is(setup: SetupPanel) -> None:
    names = [recipe.name for _, recipes in GROUPS for recipe in recipes]
    for name in names:
        add(setup, name)
    assert [edit.recipe for edit in setup.spec().edits] == names


def test_an_edit_is_typed_and_reaches_the_spec(setup: SetupPanel) -> None:
    card = add(setup, "poke-nan")
    assert not card.body.isHidden()
    type_into(card.frame, "12")
    type_into(card.fields["layer"], "2")
    kv = card.fields["kv"]
    assert isinstance(kv, Choice)
    kv.setCurrentText("V")
    kv.activated.emit(kv.currentIndex())
    assert setup.spec().edits == (Edit("poke-nan", 12, {"layer": "2", "kv": "V"}),)
    assert card.head.text() == "poke-nan at frame 12: layer 2, kv V"


def test_what_is_wrong_is_said_at_the_edit(setup: SetupPanel) -> None:
    card = add(setup, "poke-nan")
    type_into(card.fields["layer"], "two")
    assert "Layer" in card.problem.text() or "layer is 'two'" in card.problem.text()
    assert "edits" in setup.form.problems()
    type_into(card.fields["layer"], "2")
    type_into(card.frame, "soon")
    assert "must be a whole number" in card.problem.text()
    type_into(card.frame, "7")
    assert card.problem.text() == ""
    assert setup.form.problems() == {}


def test_removing_undoes(setup: SetupPanel) -> None:
    add(setup, "poke-nan")
    add(setup, "codec-reset").remove.click()
    assert [edit.recipe for edit in setup.spec().edits] == ["poke-nan"]
    setup.edits_section.cards[0].remove.click()
    assert setup.spec() == RunSpec()


def test_the_button_says_that_the_run_has_edits(setup: SetupPanel) -> None:
    add(setup, "poke-nan")
    setup.show_possible(frozenset({"start"}))
    assert setup.start.text() == "Start run with 1 edit"
    setup.edits_section.cards[0].remove.click()
    setup.show_possible(frozenset({"start"}))
    assert setup.start.text() == "Start run"


def test_a_recorded_runs_edits_are_filled_in(setup: SetupPanel) -> None:
    spec = RunSpec(edits=(Edit("poke-copy", 5, {"slot": "3", "source": "1"}),))
    setup.show_form(SetupForm.of_spec(spec))
    assert setup.spec() == spec
    assert [card.form.recipe for card in setup.edits_section.cards] == ["poke-copy"]


def test_edits_do_not_come_back_in_the_next_session(setup: SetupPanel, qtbot: QtBot) -> None:
    add(setup, "poke-nan")
    other = SetupPanel(Workspace(), settings=Settings())
    qtbot.addWidget(other)
    assert other.form.edits == ()
    assert SetupForm.from_dict({"edits": [{"recipe": "poke-nan"}]}).edits == ()


def test_an_unknown_recipe_is_shown_and_refused(setup: SetupPanel) -> None:
    strange = EditForm("from-the-future", "3", {"a": "b"})
    setup.show_form(replace(SetupForm(), edits=(strange,)))
    assert "unknown recipe" in setup.form.problems()["edits"]
    assert "unknown recipe" in setup.edits_section.cards[0].problem.text().lower()
