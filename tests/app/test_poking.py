"""Poke a slot in the layer view: the same run again with one more edit, the old one kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QInputDialog

from kvstudio.recording import protocol as p
from kvstudio.recording.spec import Edit, ModelSource, RunSpec
from tests.app.shell import frames, messages
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.layer.poke_menu import PokeMenu
    from kvstudio.app.main_window import MainWindow
    from kvstudio.app.panels.layer import LayerPanel
    from tests.fake_engine import FakeEngine


def aimed(window: MainWindow, path: Path, *, cache: int = 1, slot: int = 7) -> PokeMenu:
    """A recording is open, and a slot selected at frame 4."""
    assert window.open_recording(path)
    window.workspace.move(frame=4, cache=cache, slot=slot)
    panel = cast("LayerPanel", window.panels["layer"])
    panel.refresh_now()
    return panel.poke


def choose(menu: PokeMenu, words: str) -> None:
    next(a for a in menu.actions() if words in a.text()).trigger()


def test_a_poke_runs_again_with_one_more_edit(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    spec = RunSpec(seed=9, edits=(Edit("codec-reset", 3),))
    FakeRun(tmp_path / "a.kvrec", spec=spec).run(8)
    engine.frames = 40
    menu = aimed(window, tmp_path / "a.kvrec")
    assert menu.title() == "&Poke slot 7"
    choose(menu, "&NaN")
    qtbot.waitUntil(lambda: frames(window) == 6 and engine.state == "held")
    poke = Edit("poke-nan", 5, {"layer": "1", "slot": "7"})
    recording = window.workspace.recording
    assert recording is not None
    assert recording.spec == spec.with_edit(poke)  # same seed, same edits, and one more
    assert window.setup.spec().edits == (spec.edits[0], poke)
    assert "Running again with poke-nan at frame 5" in messages(window)[0]
    window.banner.messages[0].buttons["Show the run before"].click()
    assert window.workspace.recording is not None
    assert window.workspace.recording.path == tmp_path / "a.kvrec"


def test_another_slots_value_is_asked_for(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    FakeRun(tmp_path / "a.kvrec").run(8)
    menu = aimed(window, tmp_path / "a.kvrec")
    choose(menu, "slot's value")
    dialog = window.findChild(QInputDialog)
    assert dialog is not None
    dialog.setIntValue(2)
    dialog.accept()
    qtbot.waitUntil(lambda: any(isinstance(c, p.Start) for c in engine.commands))
    (start,) = [c for c in engine.commands if isinstance(c, p.Start)]
    assert start.spec["edits"][0]["arguments"] == {"layer": "1", "slot": "7", "source": "2"}


def test_slots_of_the_codec_cannot_be_poked(window: MainWindow, tmp_path: Path) -> None:
    FakeRun(tmp_path / "a.kvrec").run(8)
    menu = aimed(window, tmp_path / "a.kvrec", cache=2, slot=1)
    assert not menu.menuAction().isEnabled()
    assert "Mimi" in menu.menuAction().toolTip()


def test_a_script_cannot_be_run_again(
    window: MainWindow, engine: FakeEngine, tmp_path: Path
) -> None:
    spec = RunSpec(model=ModelSource("script", "my fork"))
    FakeRun(tmp_path / "a.kvrec", spec=spec).run(8)
    choose(aimed(window, tmp_path / "a.kvrec"), "&Zero")
    assert "cannot be repeated with this edit" in messages(window)[0]
    assert not any(isinstance(c, p.Start) for c in engine.commands)
