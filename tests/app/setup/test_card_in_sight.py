"""A new edit's fields are to be seen at once, whatever the height of the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from PySide6.QtWidgets import QScrollArea

from kvstudio.app.panels.setup import SetupPanel
from kvstudio.app.settings import Settings
from kvstudio.app.workspace import Workspace

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu
    from pytestqt.qtbot import QtBot


@pytest.mark.parametrize("height", [420, 560, 660])
def test_the_fields_of_a_new_edit_are_in_sight(qtbot: QtBot, height: int) -> None:
    setup = SetupPanel(Workspace(), settings=Settings())
    qtbot.addWidget(setup)
    setup.resize(318, height)
    setup.show()
    scroll = setup.findChild(QScrollArea)
    assert scroll is not None
    bar = scroll.verticalScrollBar()
    bar.setValue(bar.maximum())
    section = setup.edits_section
    menu = cast("QMenu", section.menu.actions()[0].menu())
    menu.actions()[0].trigger()
    field = section.cards[-1].fields["room"]

    def is_in_sight() -> bool:
        return field.visibleRegion().boundingRect().size() == field.size()

    qtbot.waitUntil(is_in_sight, timeout=2000)
