"""The window in light and dark: every colour readable, every change announced."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QFile
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QPushButton

from kvstudio.app.painting.sheet_pictures import register_pictures
from kvstudio.app.theme import (
    DARK,
    LIGHT,
    Palette,
    apply_theme,
    current_palette,
    ink_on,
    palette_for,
    style_plot,
    theme_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

both = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


@pytest.fixture(autouse=True)
def undressed(qapp: QApplication) -> Iterator[None]:
    """The application is shared by all tests; leave it as it was."""
    yield
    theme = theme_of(qapp)
    if theme is not None:
        theme.deleteLater()
    qapp.setStyleSheet("")
    qapp.setPalette(QPalette())


def contrast(one: str, other: str) -> float:
    """Contrast ratio after WCAG 2."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(name: str) -> float:
    color = QColor(name)
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (color.redF(), color.greenF(), color.blueF())
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@both
def test_every_entry_is_a_colour(palette: Palette) -> None:
    for field in fields(palette):
        if field.name != "is_dark":
            assert QColor(getattr(palette, field.name)).isValid(), field.name


@both
@pytest.mark.parametrize("ground", ["background", "panel", "raised", "selection"])
def test_text_is_readable_on_every_ground(palette: Palette, ground: str) -> None:
    assert contrast(palette.text, getattr(palette, ground)) >= 7


@both
@pytest.mark.parametrize("word", ["muted_text", "warning", "error", "ok"])
@pytest.mark.parametrize("ground", ["background", "panel"])
def test_small_words_are_readable(palette: Palette, word: str, ground: str) -> None:
    assert contrast(getattr(palette, word), getattr(palette, ground)) >= 4.5


@both
@pytest.mark.parametrize(
    "role",
    ["voice", "text_slot", "generated", "stale", "hole", "dropped", "edited", "nan", "inf"],
)
def test_a_label_is_readable_on_every_role(palette: Palette, role: str) -> None:
    ground = getattr(palette, role)
    assert contrast(ink_on(ground), ground) >= 4.5


@both
def test_what_is_wrong_stands_out_from_what_is_healthy(palette: Palette) -> None:
    for wrong in ("stale", "dropped", "nan", "hole"):
        hue = QColor(getattr(palette, wrong)).hsvHue()
        for healthy in ("voice", "text_slot", "generated"):
            apart = abs(hue - QColor(getattr(palette, healthy)).hsvHue())
            assert min(apart, 360 - apart) > 60, (wrong, healthy)


def test_the_mode_changes_live(qapp: QApplication, qtbot: QtBot) -> None:
    theme = apply_theme(qapp, "light")
    assert current_palette() is LIGHT
    with qtbot.waitSignal(theme.palette_changed) as changed:
        assert apply_theme(qapp, "dark") is theme
    assert changed.args == [DARK]
    assert current_palette() is DARK
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(DARK.panel)
    assert pg.getConfigOption("background") == DARK.background


def test_the_same_mode_again_disturbs_nobody(qapp: QApplication, qtbot: QtBot) -> None:
    theme = apply_theme(qapp, "light")
    with qtbot.assertNotEmitted(theme.palette_changed):
        apply_theme(qapp, "light")


def test_the_system_decides_when_nobody_else_does(qapp: QApplication) -> None:
    apply_theme(qapp, "system")
    assert current_palette() == palette_for("system", qapp)
    assert theme_of(qapp) is not None


def test_what_is_disabled_looks_disabled(qapp: QApplication, qtbot: QtBot) -> None:
    apply_theme(qapp, "light")
    button = QPushButton("Step")
    qtbot.addWidget(button)
    looks = []
    for enabled in (True, False):
        button.setEnabled(enabled)
        looks.append(button.grab().toImage())
    assert looks[0] != looks[1]


@both
def test_the_pictures_of_the_style_sheet_exist(qapp: QApplication, palette: Palette) -> None:
    folder = register_pictures(palette)
    assert register_pictures(palette) == folder
    apply_theme(qapp, "dark" if palette.is_dark else "light")
    named = [part.split(")")[0] for part in qapp.styleSheet().split("url(")[1:]]
    assert f"{folder}/tick.svg" in named
    assert all(QFile.exists(name) for name in named)


def test_an_existing_plot_takes_the_new_colours(qapp: QApplication, qtbot: QtBot) -> None:
    plot = pg.PlotWidget()
    qtbot.addWidget(plot)
    style_plot(plot.getPlotItem(), DARK)
    assert plot.backgroundBrush().color() == QColor(DARK.background)
    assert plot.getPlotItem().getAxis("left").textPen().color() == QColor(DARK.muted_text)
