"""The whole program in a process of its own: it opens, it closes, nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from kvstudio.app import front_door, start
from tests.app.test_engine_client import SCRIPT, alive
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

# The engine is a stand-in; what happens in the window is told on standard output.
PROGRAM = """
import os, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from kvstudio.app import engine_client, start
from kvstudio.app.main_window import MainWindow
from kvstudio.recording.interpreter import EngineCommand

script, act, path = sys.argv[1:4]
command = lambda _: EngineCommand([sys.executable, script, "ready"], dict(os.environ), lambda: None)
engine_client.EngineClient.__init__.__defaults__ = (None, command)

def show(window, event, shown=MainWindow.showEvent):
    shown(window, event)
    window.engine.state_changed.connect(lambda state, _: state == "empty" and begin(window))

def begin(window):
    recording = window.workspace.recording
    frames = "no" if recording is None else len(recording.frames)
    print("engine", window.engine.pid, "frames", frames, flush=True)
    if act == "raise":
        QTimer.singleShot(0, fail)
        QTimer.singleShot(50, lambda: print([m.text for m in window.banner.messages], flush=True))
        QTimer.singleShot(100, window.close)
    elif act == "close":
        QTimer.singleShot(0, window.close)

def fail():
    raise RuntimeError("a bug of ours")

MainWindow.showEvent = show
print("code", start.run(Path(path) if path else None), flush=True)
"""

# What a machine says that has no display or no sound server.
NOISE = ("propagateSizeHints", "qt.multimedia", "PulseAudioService")

Process = subprocess.Popen[str]
Begin = Callable[..., Process]


@pytest.fixture
def begin() -> Iterator[Begin]:
    with ExitStack() as stack:

        def begin_one(act: str, path: str = "") -> Process:
            process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-c", PROGRAM, str(SCRIPT), act, path],
                env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin_one


def first_line(process: Process) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def finish(process: Process) -> tuple[str, str]:
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return out, "\n".join(e for e in errors.splitlines() if not any(n in e for n in NOISE))


def test_it_opens_a_recording_and_closes_in_order(begin: Begin, tmp_path: Path) -> None:
    FakeRun(tmp_path / "a.kvrec").run(3)
    process = begin("close", str(tmp_path / "a.kvrec"))
    _, pid, _, frames = first_line(process)
    assert frames == "5"
    assert finish(process) == ("code 0\n", "")
    assert not alive(int(pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_it_as_its_button_does(begin: Begin, number: signal.Signals) -> None:
    process = begin("wait")
    pid = int(first_line(process)[1])
    process.send_signal(number)
    assert finish(process) == ("code 0\n", "")
    assert not alive(pid)


def test_an_error_of_our_own_is_shown_and_the_window_goes_on(begin: Begin) -> None:
    out, errors = finish(begin("raise"))
    assert "went wrong: RuntimeError: a bug of ours" in out
    assert out.endswith("code 0\n")
    assert "RuntimeError: a bug of ours" in errors


def test_a_bad_installation_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(front_door, "problem", lambda: "PySide6 is too new")
    assert start.run() == 2
    assert capsys.readouterr().err == "PySide6 is too new\n"
