"""An Audio and a Frames panel, a player that makes no sound, and a run to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import pytest

from kvstudio.app.panel import Panel
from kvstudio.app.panels.audio import AudioPanel
from kvstudio.app.panels.frames import FramesPanel
from kvstudio.app.theme import apply_theme
from kvstudio.app.workspace import Workspace
from tests.app.panels import audio_bench, frames_bench
from tests.app.panels.stand_in_player import StandInPlayer
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

P = TypeVar("P", bound=Panel)


class OpenPanel(Protocol):
    def __call__(self, kind: type[P], path: Path | None, height: int = 600) -> P: ...


@pytest.fixture
def open_panel(qtbot: QtBot) -> OpenPanel:
    """`open_panel(OpsPanel, path)`: a panel of that kind over a recording, or over none."""

    def opened(kind: type[P], path: Path | None, height: int = 600) -> P:
        workspace = Workspace()
        panel = kind(workspace)
        qtbot.addWidget(panel, before_close_func=lambda _: workspace.close())
        if path is not None:
            assert workspace.open(path)
        panel.resize(900, height)
        panel.show()
        qtbot.waitExposed(panel)
        return panel

    return opened


@pytest.fixture
def player() -> StandInPlayer:
    return StandInPlayer()


@pytest.fixture
def audio(qapp: QApplication, qtbot: QtBot, player: StandInPlayer) -> Iterator[AudioPanel]:
    apply_theme(qapp, "light")
    workspace = Workspace()
    panel = AudioPanel(workspace, player=player)
    qtbot.addWidget(panel)
    panel.resize(*audio_bench.SIZE)
    panel.show()
    yield panel
    workspace.close()


@pytest.fixture
def frames(qapp: QApplication, qtbot: QtBot) -> Iterator[FramesPanel]:
    apply_theme(qapp, "light")
    workspace = Workspace()
    panel = FramesPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(*frames_bench.SIZE)
    panel.show()
    yield panel
    workspace.close()


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return FakeRun(tmp_path / "run.kvrec", layers=1, ops_per_frame=2, room=100)
