"""The client against real processes: order, garbage, partial lines, every kind of end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kvstudio.app.engine_client import EngineClient
from kvstudio.app.engine_process import how_it_ended
from kvstudio.recording.errors import SpecError
from kvstudio.recording.interpreter import EngineCommand
from kvstudio.recording.protocol import Event, Failed, Load, Log, Ready, State

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

SCRIPT = Path(__file__).with_name("stand_in.py")


class Watched:
    """A client and everything it said."""

    def __init__(self, *steps: str) -> None:
        self.cleanups = 0
        self.client = EngineClient(command=self.command)
        self.steps = steps
        self.events: list[Event] = []
        self.states: list[str] = []
        self.deaths: list[str] = []
        self.client.event_received.connect(self.events.append)
        self.client.state_changed.connect(lambda state, _: self.states.append(state))
        self.client.died.connect(self.deaths.append)

    def command(self, python: str | None) -> EngineCommand:
        return EngineCommand(
            [sys.executable, str(SCRIPT), *self.steps], dict(os.environ), self._clean
        )

    def logs(self, stream: str) -> list[str]:
        return [e.text for e in self.events if isinstance(e, Log) and e.stream == stream]

    def _clean(self) -> None:
        self.cleanups += 1


Begin = Callable[..., Watched]


@pytest.fixture
def begin(qtbot: QtBot) -> Iterator[Begin]:
    begun: list[Watched] = []

    def start(*steps: str) -> Watched:
        begun.append(Watched(*steps))
        begun[-1].client.start()
        return begun[-1]

    yield start
    for each in begun:
        each.client.wait_closed()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_events_arrive_in_order_and_move_the_state(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("ready", "half")
    assert engine.client.state == "starting"
    qtbot.waitUntil(lambda: engine.client.state == "loaded")
    assert [type(event) for event in engine.events] == [Ready, State, State]
    assert engine.states == ["starting", "empty", "loaded"]


def test_a_command_reaches_the_engine(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("ready")
    engine.client.send(Load(model={"kind": "config", "value": "größe.yaml"}))
    qtbot.waitUntil(lambda: bool(engine.logs("heard")))
    assert engine.logs("heard") == [
        Load(model={"kind": "config", "value": "größe.yaml"}).to_line().strip()
    ]


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "{}",
        '{"event": "nonsense"}',
        '{"event": "state", "colour": 1}',
        "[1]",
        "\ufffd\x00",
    ],
)
def test_what_is_no_message_is_shown_and_harms_nothing(
    begin: Begin, qtbot: QtBot, line: str
) -> None:
    engine = begin(f"say={line}".replace("\x00", ""), "", "ready")
    qtbot.waitUntil(lambda: engine.client.state == "empty")
    assert len(engine.logs("protocol")) == 1
    assert engine.deaths == []


def test_an_unknown_state_does_not_become_the_state(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("ready", 'say={"event": "state", "state": "dreaming"}', "error=end")
    qtbot.waitUntil(lambda: engine.logs("stderr") == ["end"])
    assert engine.client.state == "empty"


def test_standard_error_is_logged_line_by_line(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("error=one", "error=two", "ready")
    qtbot.waitUntil(lambda: engine.logs("stderr") == ["one", "two"])


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (["error=No module named torch", "exit=3"], "The engine ended: it exited with code 3."),
        (["kill=SIGKILL"], "The engine ended: killed by SIGKILL, maybe because memory ran out."),
        (["kill=SIGSEGV"], "crashed with SIGSEGV"),
        (["kill=SIGUSR1"], "ended by signal SIGUSR1"),
    ],
)
def test_every_end_is_told(begin: Begin, qtbot: QtBot, steps: list[str], words: str) -> None:
    engine = begin("ready", *steps)
    qtbot.waitUntil(lambda: bool(engine.deaths))
    assert words in engine.deaths[0]
    assert engine.client.state == engine.states[-1] == "dead"
    assert engine.cleanups == 1
    assert engine.client.last_printed == ("No module named torch" if "error" in steps[0] else "")


def test_the_last_line_before_the_end_is_not_lost(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("ready", 'say={"event": "log", "stream": "x", "text": "last"}', "exit=1")
    qtbot.waitUntil(lambda: bool(engine.deaths))
    assert engine.logs("x") == ["last"]


def test_killed_from_outside(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("ready")
    qtbot.waitUntil(lambda: engine.client.state == "empty")
    os.kill(engine.client.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: bool(engine.deaths))
    assert "SIGKILL" in engine.deaths[0]


def test_a_command_to_a_dead_engine_fails_in_words(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("exit=0")
    qtbot.waitUntil(lambda: bool(engine.deaths))
    engine.client.send(Load())
    assert engine.events[-1] == Failed("load", "the engine is not running; restart it")


def test_restart_after_death_begins_anew(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("exit=1")
    qtbot.waitUntil(lambda: bool(engine.deaths))
    engine.steps = ("ready",)
    engine.client.restart()
    qtbot.waitUntil(lambda: engine.client.state == "empty")
    assert engine.states == ["starting", "dead", "starting", "empty"]


def test_restart_of_a_living_engine_is_no_death(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("ready", "deaf")
    qtbot.waitUntil(lambda: engine.client.state == "empty")
    first, engine.steps = engine.client.pid, ("ready",)
    engine.client.restart()
    qtbot.waitUntil(lambda: engine.states == ["starting", "empty", "starting", "empty"])
    assert engine.deaths == []
    assert engine.client.pid != first
    assert not alive(first)


def test_shut_down_is_polite_and_silent(begin: Begin, qtbot: QtBot) -> None:
    engine = begin("ready")
    qtbot.waitUntil(lambda: engine.client.state == "empty")
    engine.client.shut_down()
    qtbot.waitUntil(lambda: engine.client.state == "dead")
    assert engine.deaths == []
    assert engine.cleanups == 1


def test_an_engine_that_does_not_listen_is_killed(
    begin: Begin, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kvstudio.app.engine_process.POLITE_MS", 50)
    engine = begin("ready", "deaf")
    qtbot.waitUntil(lambda: engine.client.state == "empty")
    pid = engine.client.pid
    engine.client.shut_down()
    qtbot.waitUntil(lambda: engine.client.state == "dead")
    assert not alive(pid)


def test_closing_waits_until_the_process_is_gone(
    begin: Begin, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kvstudio.app.engine_process.POLITE_MS", 50)
    engine = begin("ready", "deaf")
    qtbot.waitUntil(lambda: engine.client.state == "empty")
    pid = engine.client.pid
    engine.client.wait_closed()
    assert not alive(pid)
    assert engine.cleanups == 1


def test_a_program_that_cannot_be_started(qtbot: QtBot, tmp_path: Path) -> None:
    missing = EngineCommand([str(tmp_path / "python")], {}, lambda: None)
    client = EngineClient(command=lambda _: missing)
    with qtbot.waitSignal(client.died) as died:
        client.start()
    assert "could not be started" in str(died.args)
    assert client.state == "dead"
    client.wait_closed()


def test_an_interpreter_that_does_not_exist(qtbot: QtBot) -> None:
    def refuse(python: str | None) -> EngineCommand:
        raise SpecError(f"there is no Python at {python}")

    client = EngineClient(command=refuse)
    with qtbot.waitSignal(client.died) as died:
        client.start("nowhere")
    assert died.args == ["The engine could not be started: there is no Python at nowhere."]


def test_a_code_that_is_no_signal() -> None:
    assert how_it_ended(-1073741819, True) == "it crashed with code 0xc0000005"
