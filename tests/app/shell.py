"""Short words for what a user does to the window and sees of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.app.main_window import MainWindow

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
