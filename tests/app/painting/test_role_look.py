"""Roles can be told apart without seeing colours."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from kvstudio.app.painting.role_look import looks, narrow_colors
from kvstudio.app.painting.strip_runs import LOUD
from kvstudio.app.painting.strips import PaintedRole
from kvstudio.app.theme import DARK, LIGHT, Palette

both = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


def brightness(name: str) -> float:
    """As the eye weighs it, so that it also counts in grey."""
    color = QColor(name)
    weighed = (
        0.2126 * color.redF() ** 2.2,
        0.7152 * color.greenF() ** 2.2,
        0.0722 * color.blueF() ** 2.2,
    )
    return float(sum(weighed))


@both
def test_what_is_wrong_has_a_pattern_and_a_glyph_of_its_own(palette: Palette) -> None:
    loud = [looks(palette)[role] for role in LOUD]
    assert len({(look.pattern, look.is_hollow) for look in loud}) == len(LOUD)
    assert len({look.glyph for look in loud}) == len(LOUD)
    assert all(look.glyph for look in loud)


@both
def test_the_healthy_roles_differ_in_lightness_or_pattern(palette: Palette) -> None:
    healthy = (PaintedRole.VOICE, PaintedRole.TEXT, PaintedRole.GENERATED, PaintedRole.UNWRITTEN)
    seen = [looks(palette)[role] for role in healthy]
    for i, one in enumerate(seen):
        for other in seen[:i]:
            dark, light = sorted((brightness(one.color), brightness(other.color)))
            assert one.pattern is not other.pattern or light > 1.3 * dark


@both
def test_every_role_has_a_colour_even_where_it_is_narrow(palette: Palette) -> None:
    colors = narrow_colors(palette)
    for role in PaintedRole:
        wanted = QColor(looks(palette)[role].narrow_color).rgb()
        assert colors[role] == wanted
    assert colors[PaintedRole.HOLE] != QColor(palette.background).rgb()
