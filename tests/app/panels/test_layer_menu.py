"""The menu of the layer view is about the slot under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from kvstudio.app.layer.geometry import Cell
from kvstudio.app.panels.layer import LayerPanel
from kvstudio.app.workspace import Workspace
from tests.app.panels.test_layer import pointer
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


def test_a_right_press_aims_the_poke(qtbot: QtBot, tmp_path: Path) -> None:
    FakeRun(tmp_path / "a.kvrec").run(8)
    workspace = Workspace()
    panel = LayerPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(900, 420)
    workspace.open(tmp_path / "a.kvrec")
    panel.show()
    qtbot.waitExposed(panel)
    panel.refresh_now()
    QTest.qWait(1)  # the layout of the view is made when the event loop gets to it
    assert not panel.poke.menuAction().isEnabled()
    place = pointer(panel, Cell(0, 9, 3))
    QTest.mousePress(panel.pictures.view.viewport(), Qt.MouseButton.RightButton, pos=place)
    assert workspace.cursor.slot == 9
    assert panel.poke.title() == "&Poke slot 9"  # at once: the menu does not wait for a tick
    workspace.findings.close()
    workspace.close()
