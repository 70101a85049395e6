"""Setup: typing makes a spec, what is wrong is said beside it, what is loaded is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtTest import QTest

from kvstudio.app.panels.setup import SetupPanel
from kvstudio.app.settings import Settings
from kvstudio.app.setup.form import SetupForm
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.fake_engine import MODEL_CARD, READY

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def setup(qtbot: QtBot) -> SetupPanel:
    return make(qtbot)


def make(qtbot: QtBot) -> SetupPanel:
    panel = SetupPanel(Workspace(), settings=Settings())
    qtbot.addWidget(panel)
    panel.resize(300, 760)
    panel.show()
    return panel


def choose_model(setup: SetupPanel, words: str) -> None:
    choice = setup.model_section.choice
    choice.setCurrentIndex(choice.findText(words))
    choice.activated.emit(choice.currentIndex())


def load(setup: SetupPanel, name: str = "demo", kind: str = "demo") -> None:
    setup.take_event(p.Loaded({**MODEL_CARD, "name": name, "kind": kind}))
    setup.show_state("loaded", "")


def test_a_new_user_finds_the_demo_filled_in(setup: SetupPanel) -> None:
    assert setup.spec() == RunSpec()
    assert setup.model_section.choice.currentText() == "Demo, embedded"
    assert setup.voice_section.choice.currentText() == "low"


def test_typing_makes_the_spec(setup: SetupPanel) -> None:
    lines = setup.sampling_section.lines
    setup.text_section.text.setPlainText("Say this.")
    for name, typed in (("seed", "7"), ("temperature", "0.4"), ("frames_after_eos", "2")):
        lines[name].clear()
        QTest.keyClicks(lines[name], typed)
    setup.sampling_section.state.setCurrentIndex(1)
    setup.sampling_section.state.activated.emit(1)
    setup.sampling_section.trace.setCurrentIndex(2)
    setup.sampling_section.trace.activated.emit(2)
    setup.model_section.quantize.click()
    assert setup.spec() == RunSpec(
        model=ModelSource(quantize=True), text="Say this.", seed=7, temperature=0.4,
        frames_after_eos=2, copy_state=False, trace="off",
    )  # fmt: skip


def test_what_is_wrong_is_said_beside_its_field(setup: SetupPanel) -> None:
    setup.text_section.text.clear()
    assert setup.text_section.problem.isVisible()
    assert "Type a text" in setup.text_section.problem.text()
    setup.text_section.text.setPlainText("Again.")
    assert not setup.text_section.problem.isVisible()
    setup.sampling_section.lines["temperature"].setText("hot")
    assert "Temperature must be a number" in setup.sampling_section.problem.text()
    setup.voice_section.choice.setEditText("/nowhere/x.wav")
    assert "no voice file" in setup.voice_section.problem.text()


def test_buttons_work_when_told_and_say_why_not(setup: SetupPanel) -> None:
    assert not setup.load.isEnabled()
    setup.show_possible(frozenset({"load", "start"}))
    assert setup.load.isEnabled()
    assert setup.start.isEnabled()
    setup.text_section.text.clear()
    setup.show_possible(frozenset({"load"}))
    assert not setup.start.isEnabled()
    assert "type a text" in setup.start.toolTip()


def test_buttons_ask(setup: SetupPanel, qtbot: QtBot) -> None:
    setup.show_possible(frozenset({"load", "start"}))
    with qtbot.waitSignals([setup.load_requested, setup.start_requested]):
        setup.load.click()
        setup.start.click()


def test_the_engines_languages_and_devices_are_offered(setup: SetupPanel, qtbot: QtBot) -> None:
    setup.take_event(READY)
    choose_model(setup, "french_24l")
    setup.model_section.device.setCurrentText("cuda:0")
    setup.model_section.device.activated.emit(1)
    assert setup.model() == ModelSource("language", "french_24l", device="cuda:0")
    again = make(qtbot)  # known before the engine of a second session is up
    assert again.model_section.choice.findText("english") > 0
    assert again.model() == setup.model()


def test_predefined_voices_come_with_released_models(setup: SetupPanel) -> None:
    setup.take_event(READY)
    choice = setup.voice_section.choice
    assert [choice.itemText(n) for n in range(choice.count())] == ["low", "high", "mid"]
    choose_model(setup, "english")
    assert [choice.itemText(n) for n in range(choice.count())] == ["alba", "marius"]
    assert choice.currentText() == "low"  # what was typed is not taken away


def test_a_config_and_a_checkpoint_have_their_own_fields(setup: SetupPanel, tmp_path: Path) -> None:
    config, checkpoint = tmp_path / "a.yaml", tmp_path / "b.pt"
    config.touch()
    checkpoint.touch()
    section = setup.model_section
    assert not section.config.isVisible()
    choose_model(setup, "Config file…")
    assert section.config.isVisible()
    assert "Choose a config file" in section.problem.text()
    section.config.line.setText(str(config))
    assert setup.model() == ModelSource("config", str(config))
    assert not section.problem.isVisible()
    choose_model(setup, "Checkpoint…")
    section.checkpoint.line.setText(str(checkpoint))
    section.checkpoint_config.line.setText("english")
    assert setup.model() == ModelSource("checkpoint", str(checkpoint), "english")


def test_everything_is_remembered(setup: SetupPanel, qtbot: QtBot) -> None:
    form = replace(
        SetupForm(), kind="config", config="/x/y.yaml", voice="hf://v", text="Größe", seed="5",
        temperature="0.1", copy_state=False, trace="cache", quantize=True, device="cuda:0",
    )  # fmt: skip
    setup.show_form(form)
    assert make(qtbot).form == form


def test_the_card_shows_while_its_model_is_the_chosen_one(setup: SetupPanel) -> None:
    load(setup)
    card = setup.model_section.card.text().replace("\u00a0", " ")
    assert "2.2 M parameters · float32 on cpu" in card
    assert setup.sampling_section.lines["temperature"].placeholderText() == "0.7"
    setup.take_event(READY)
    choose_model(setup, "english")
    assert not setup.model_section.card.isVisible()
    assert setup.model_section.aside.text() == "demo is loaded"
    assert setup.sampling_section.lines["temperature"].placeholderText() == "auto"


def test_a_dead_engine_has_nothing_loaded(setup: SetupPanel) -> None:
    load(setup)
    setup.show_state("dead", "")
    assert setup.model_section.aside.text() == ""
    assert not setup.model_section.card.isVisible()


def test_the_voices_card_tells_its_slots_and_notes(setup: SetupPanel) -> None:
    load(setup)
    setup.take_event(p.Voiced({"source": "low", "slots": 19, "seconds": 1.5, "note": "was 8 kHz"}))
    assert setup.voice_section.aside.text() == "19 slots, 1.5 s"
    assert setup.voice_section.card.text() == "Was 8 kHz"
    setup.voice_section.choice.setEditText("high")
    assert setup.voice_section.aside.text() == ""


def test_voice_files_that_worked_are_offered_again(
    setup: SetupPanel, tmp_path: Path, qtbot: QtBot
) -> None:
    path = str(tmp_path / "anna.wav")
    load(setup)
    setup.take_event(p.Voiced({"source": path, "slots": 3}))
    for panel in (setup, make(qtbot)):
        choice = panel.voice_section.choice
        assert choice.findText(path) > 0
        assert choice.currentText() == "low"


# ---- budget --------------------------------------------------------------------------------------


def test_the_budget_is_asked_for_once_typing_rests(setup: SetupPanel, qtbot: QtBot) -> None:
    load(setup)
    asked: list[tuple[str, object]] = []
    setup.budget_requested.connect(lambda text, tokens: asked.append((text, tokens)))
    for text in ("A", "A b", "A b c"):
        setup.text_section.text.setPlainText(text)
    setup.sampling_section.lines["max_tokens"].setText("20")
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [("A b c", 20)]


def test_the_sum_is_shown_in_numbers(setup: SetupPanel) -> None:
    load(setup)
    chunk = {"current_end": 19, "token_count": 32, "max_gen_len": 159, "required_len": 210}
    setup.take_event(p.Budgeted([{**chunk, "text": "x", "bytes": 5_300_000}]))
    shown = setup.budget.table.text()
    assert [number for number in ("19", "32", "159", "210") if f">{number}<" in shown] == [
        "19", "32", "159", "210",
    ]  # fmt: skip
    assert "12.7 s of audio, 5.3 MB of cache" in setup.budget.note.text()


def test_a_long_text_is_shown_as_chunks(setup: SetupPanel) -> None:
    load(setup)
    chunk = {"current_end": 5, "token_count": 6, "max_gen_len": 10, "required_len": 21, "bytes": 9}
    setup.take_event(p.Budgeted([chunk] * 30))
    assert setup.budget.aside.text() == "30 chunks"
    assert "And 26 chunks more" in setup.budget.note.text()


@pytest.mark.parametrize("text", ["", "Something"])
def test_without_a_model_no_budget_is_asked_for(setup: SetupPanel, qtbot: QtBot, text: str) -> None:
    with qtbot.assertNotEmitted(setup.budget_requested, wait=400):
        setup.text_section.text.setPlainText(text)
    assert setup.budget.note.text() in (
        "There is no text to speak.",
        "Load the model to see what this text needs.",
    )


def test_a_budget_that_failed_says_why_in_its_place(setup: SetupPanel) -> None:
    load(setup)
    setup.take_event(p.Failed("budget", "the tokenizer is broken"))
    assert setup.budget.note.text() == "The tokenizer is broken"


# ---- progress ------------------------------------------------------------------------------------


def test_progress_tells_what_how_much_and_how_long(setup: SetupPanel) -> None:
    setup.show_state("loading", "loading english")
    assert setup.progress.isVisible()
    assert setup.progress.bar.maximum() == 0  # length unknown
    setup.take_event(p.Progress("model.safetensors", 4_100_000, 8_200_000, "bytes", 12.0))
    words = setup.progress.words.text().replace("\u00a0", " ")
    assert words == "model.safetensors, 4.1 MB of 8.2 MB, 12 s left"
    assert setup.progress.bar.value() / setup.progress.bar.maximum() == pytest.approx(0.5)
    setup.show_state("ready", "")
    assert not setup.progress.isVisible()


def test_cancel_asks_once(setup: SetupPanel, qtbot: QtBot) -> None:
    setup.show_state("loading", "loading english")
    with qtbot.waitSignal(setup.cancel_requested):
        setup.progress.cancel.click()
    assert not setup.progress.cancel.isEnabled()
    setup.show_state("empty", "")
    setup.show_state("loading", "again")
    assert setup.progress.cancel.isEnabled()
