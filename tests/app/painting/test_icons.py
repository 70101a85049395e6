"""Every icon can be seen, told from the others, and told from its disabled self."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QIcon

from kvstudio.app.painting.icons import ICON_NAMES, IconName, application_icon, icon
from kvstudio.app.theme import DARK, LIGHT

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


@pytest.mark.parametrize("name", ICON_NAMES)
def test_an_icon_is_drawn_and_can_be_disabled(qapp: QApplication, name: IconName) -> None:
    drawn = icon(name, LIGHT)
    normal = drawn.pixmap(24, 24).toImage()
    disabled = drawn.pixmap(24, 24, QIcon.Mode.Disabled).toImage()
    inked = sum(normal.pixelColor(x, y).alpha() > 127 for x in range(24) for y in range(24))
    assert 40 < inked < 400
    assert normal != disabled
    assert normal != icon(name, DARK).pixmap(24, 24).toImage()


def test_no_two_icons_look_alike(qapp: QApplication) -> None:
    pictures = [icon(name, LIGHT).pixmap(16, 16).toImage() for name in ICON_NAMES]
    alike = [
        (ICON_NAMES[i], ICON_NAMES[k])
        for i in range(len(pictures))
        for k in range(i)
        if pictures[i] == pictures[k]
    ]
    assert alike == []


def test_the_application_icon_comes_in_every_size(qapp: QApplication) -> None:
    sizes = {size.width() for size in application_icon(LIGHT).availableSizes()}
    assert {16, 32, 256} <= sizes
