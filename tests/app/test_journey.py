"""The main job with the real engine and the demo model, death and all, through the window."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from kvstudio.app.engine_client import EngineClient
from kvstudio.app.main_window import MainWindow
from kvstudio.app.recordings_folder import RecordingsFolder
from kvstudio.app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000


class Journey:
    """A window with a real engine behind it."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot, self.engine = qtbot, EngineClient()
        self.window = MainWindow(self.engine, Settings(), RecordingsFolder(folder))
        qtbot.addWidget(self.window)
        self.window.show()

    def press(self, name: str) -> None:
        self.window.transport.actions[name].trigger()

    def until(self, state: str, frames: int | None = None) -> None:
        def reached() -> bool:
            return self.engine.state == state and frames in (None, self.frames)

        self.qtbot.waitUntil(reached, timeout=PATIENCE_MS)

    @property
    def frames(self) -> int:
        recording = self.window.workspace.recording
        return 0 if recording is None else len(recording.frames)

    @property
    def status(self) -> str:
        recording = self.window.workspace.recording
        assert recording is not None
        return recording.status


@pytest.fixture
def journey(qtbot: QtBot, tmp_path: Path) -> Iterator[Journey]:
    made = Journey(qtbot, tmp_path)
    yield made
    made.window.close()
    made.engine.wait_closed()
    made.window.workspace.close()


def test_the_demo_from_start_to_end_and_through_a_death(journey: Journey) -> None:
    window, qtbot = journey.window, journey.qtbot
    window.begin_demo()
    journey.engine.start()
    journey.until("held", frames=1)
    card = window.setup.model_section.card.text().replace("\u00a0", " ")
    assert "6 layers of 4 heads" in card
    qtbot.waitUntil(window.setup.budget.table.isVisible, timeout=PATIENCE_MS)
    assert ">210<" in window.setup.budget.table.text().replace("<b>", ">").replace("</b>", "<")

    for frames in (2, 3):
        journey.press("step")
        journey.until("held", frames)
    journey.press("step_10")
    journey.until("held", frames=13)
    journey.press("run")
    journey.until("ready")
    assert journey.status == "finished"
    assert "ended by EOS" in window.status.state.text()
    assert journey.frames > 20

    journey.press("step")
    journey.until("held", frames=2)
    os.kill(journey.engine.pid, signal.SIGKILL)
    journey.until("dead")
    (message,) = window.banner.messages
    assert "killed by SIGKILL" in message.words.text()
    assert "up to frame 1 is kept" in message.words.text()
    assert journey.status == "interrupted"

    message.buttons["Restart engine"].click()
    journey.until("empty")
    journey.press("step")
    journey.until("held", frames=2)
    journey.press("stop")
    journey.until("ready")
    assert journey.status == "stopped"
