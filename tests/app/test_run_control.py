"""Moves become commands, each at a time when the engine takes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from kvstudio.app.recordings_folder import RecordingsFolder
from kvstudio.app.run_control import RunControl
from kvstudio.app.workspace import Workspace
from kvstudio.recording import protocol as p
from kvstudio.recording.errors import SpecError
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.fake_engine import FakeEngine
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@dataclass
class Form:
    """What is filled in, without a panel."""

    made: RunSpec = field(default_factory=RunSpec)
    model_problem: str = ""
    run_problem: str = ""

    def model(self) -> ModelSource:
        if self.model_problem:
            raise SpecError(self.model_problem)
        return self.made.model

    def spec(self) -> RunSpec:
        if self.model_problem or self.run_problem:
            raise SpecError(self.model_problem or self.run_problem)
        return self.made


class Bench:
    """A control with all it needs, and what it said."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot, self.engine, self.workspace, self.form = (
            qtbot,
            FakeEngine(),
            Workspace(),
            Form(),
        )
        paths = RecordingsFolder(folder)
        self.control = RunControl(self.engine, self.workspace, self.form, paths.new_path)
        self.troubles: list[str] = []
        self.control.trouble_met.connect(self.troubles.append)

    def up(self) -> Bench:
        self.engine.start()
        self.until("empty")
        return self

    def until(self, state: str) -> None:
        self.qtbot.waitUntil(lambda: self.engine.state == state and not self.busy())

    def busy(self) -> bool:
        return self.engine.state not in ("empty", "loaded", "ready", "held", "loading", "dead")

    @property
    def frames(self) -> int:
        recording = self.workspace.recording
        return 0 if recording is None else len(recording.frames)


@pytest.fixture
def bench(qtbot: QtBot, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(qtbot, tmp_path)
    yield made
    made.engine.shut_down()
    made.workspace.close()


IDLE = {"load", "step", "step_10", "run", "run_to", "run_to_finding", "start"}


def test_nothing_works_before_the_engine_is_up(bench: Bench) -> None:
    bench.control.update_possible()
    assert bench.control.possible == set()


def test_what_works_in_each_state(bench: Bench) -> None:
    bench.up()
    assert bench.control.possible == IDLE
    bench.control.start()
    assert bench.control.possible == {"stop"}
    bench.until("held")
    assert bench.control.possible == IDLE | {"stop", "restart"}
    bench.control.stop()
    bench.until("ready")
    assert bench.control.possible == IDLE | {"restart"}
    bench.engine.die()
    assert bench.control.possible == {"restart"}


def test_while_it_runs_only_pause_stop_and_restart_work(bench: Bench) -> None:
    bench.up()
    seen = []
    bench.control.possible_changed.connect(
        lambda: seen.append((bench.engine.state, set(bench.control.possible)))
    )
    bench.control.run()
    bench.until("ready")
    assert ("running", {"pause", "stop", "restart"}) in seen


def test_a_short_step_leaves_the_buttons_alone(bench: Bench) -> None:
    bench.up().control.start()
    bench.until("held")
    with bench.qtbot.assertNotEmitted(bench.control.possible_changed, wait=20):
        bench.control.step()
        bench.until("held")
    assert bench.frames == 2


def test_a_long_step_can_be_paused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.up().control.start()
    bench.until("held")
    monkeypatch.setattr(bench.engine, "_make_frame", bench.engine._turn.stop)
    bench.control.step()
    bench.qtbot.waitUntil(lambda: bench.control.possible == {"pause", "stop", "restart"})


def test_load_makes_the_voice_too(bench: Bench) -> None:
    bench.up().control.load()
    bench.until("ready")
    assert bench.engine.names == ["load", "voice"]


def test_what_cannot_run_disables_the_run_alone(bench: Bench) -> None:
    bench.up()
    bench.form.run_problem = "choose a voice"
    bench.control.update_possible()
    assert bench.control.possible == {"load"}
    bench.control.load()
    bench.until("loaded")
    assert bench.engine.names == ["load"]
    bench.form.model_problem = "choose a config file"
    bench.control.update_possible()
    assert bench.control.possible == set()
    bench.control.load()
    bench.control.start()
    assert bench.troubles == [
        "Nothing to load: choose a config file.",
        "The run cannot start: choose a config file.",
    ]
    assert bench.engine.names == ["load"]


def test_the_first_step_starts_the_run(bench: Bench) -> None:
    bench.up().control.step()
    bench.until("held")
    bench.qtbot.waitUntil(lambda: bench.frames == 2)
    assert bench.engine.names == ["start", "step"]
    assert bench.control.next_frame == 2


def test_steps_count_frames(bench: Bench) -> None:
    bench.up().control.step()
    bench.qtbot.waitUntil(lambda: bench.frames == 2)
    bench.control.step(3)
    bench.qtbot.waitUntil(lambda: bench.frames == 5)
    assert bench.engine.names == ["start", "step", "step"]


def test_presses_during_a_step_add_one_more(bench: Bench) -> None:
    bench.up().control.start()
    bench.until("held")
    for _ in range(4):
        bench.control.step()
    bench.qtbot.waitUntil(lambda: bench.frames == 3)
    bench.until("held")
    assert bench.engine.names == ["start", "step", "step"]


def test_run_goes_to_the_end_and_run_to_stops_there(bench: Bench) -> None:
    bench.up().control.run(until=4)
    bench.qtbot.waitUntil(lambda: bench.frames == 5)
    bench.until("held")
    bench.control.run()
    bench.until("ready")
    recording = bench.workspace.recording
    assert recording is not None
    assert (len(recording.frames), recording.status) == (10, "finished")


def test_pause_holds_and_the_run_goes_on(bench: Bench) -> None:
    bench.engine.frames = 500
    bench.up().control.run()
    bench.qtbot.waitUntil(lambda: bench.frames > 3)
    bench.control.pause()
    bench.until("held")
    held = bench.frames
    bench.control.step()
    bench.qtbot.waitUntil(lambda: bench.frames == held + 1)


def test_stop_ends_the_run_and_keeps_the_recording(bench: Bench) -> None:
    bench.up().control.step(4)
    bench.qtbot.waitUntil(lambda: bench.frames == 5)
    bench.control.stop()
    bench.until("ready")
    recording = bench.workspace.recording
    assert recording is not None
    assert (recording.status, len(recording.frames)) == ("stopped", 5)


def test_stop_cancels_a_load(bench: Bench) -> None:
    bench.engine.stuck_loading = True
    bench.up().control.load()
    bench.until("loading")
    assert bench.control.possible == {"stop"}
    bench.control.stop()
    bench.until("empty")
    assert bench.engine.names == ["load", "stop"]
    assert bench.control.possible == IDLE


def test_restart_is_a_new_run_of_the_same_spec(bench: Bench) -> None:
    bench.up().control.step(3)
    bench.qtbot.waitUntil(lambda: bench.frames == 4)
    first = bench.control.live_path
    bench.form.made = RunSpec(text="Something else.")
    bench.control.restart()
    bench.qtbot.waitUntil(lambda: bench.frames == 1)
    bench.until("held")
    assert bench.control.live_path != first
    starts = [c.spec["text"] for c in bench.engine.commands if isinstance(c, p.Start)]
    assert starts == [RunSpec().text] * 2


def test_start_while_a_run_is_held_begins_the_new_one(bench: Bench) -> None:
    bench.up().control.step()
    bench.qtbot.waitUntil(lambda: bench.frames == 2)
    bench.form.made = RunSpec(text="Something else.")
    bench.control.start()
    bench.qtbot.waitUntil(lambda: bench.frames == 1)
    recording = bench.workspace.recording
    assert recording is not None
    assert recording.spec.text == "Something else."


def test_restart_brings_a_dead_engine_back(bench: Bench) -> None:
    bench.up().engine.die()
    bench.control.restart()
    bench.until("empty")
    assert bench.control.possible == IDLE


def test_a_failure_drops_what_was_to_follow(bench: Bench) -> None:
    bench.engine.failing["start"] = p.Failed("start", "no such voice")
    bench.up().control.step()
    bench.until("empty")
    bench.qtbot.wait(20)
    assert bench.engine.names == ["start"]
    assert bench.control.possible >= {"step", "load"}


def test_death_in_a_run_keeps_the_recording_open(bench: Bench) -> None:
    bench.up().control.step(4)
    bench.qtbot.waitUntil(lambda: bench.frames == 5)
    bench.engine.die()
    assert bench.frames == 5
    assert bench.control.next_frame is None


def test_stepping_shows_the_run_again(bench: Bench, tmp_path: Path) -> None:
    bench.up().control.step()
    bench.qtbot.waitUntil(lambda: bench.frames == 2)
    other = FakeRun(tmp_path / "other.kvrec")
    other.run()
    live = bench.control.live_path
    bench.workspace.open(other.path)
    bench.control.step()
    bench.qtbot.waitUntil(lambda: bench.frames == 3)
    assert bench.workspace.recording is not None
    assert bench.workspace.recording.path == live


def test_a_folder_that_cannot_be_made_is_said(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    blocked = RecordingsFolder(tmp_path / "file" / "recordings")
    control = RunControl(bench.engine, bench.workspace, bench.form, blocked.new_path)
    said: list[str] = []
    control.trouble_met.connect(said.append)
    bench.up()
    control.start()
    assert "cannot start" in said[0]
    assert "step" in control.possible
