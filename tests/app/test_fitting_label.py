"""A line of words shows the fullest form that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QFontMetricsF

from kvstudio.app.fitting_label import FittingLabel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

DRAFTS = ("offset 68 of 210, generated 17", "offset 68, gen 17", "offset 68")


@pytest.mark.parametrize(
    ("room_for", "shown"),
    [(DRAFTS[0], DRAFTS[0]), (DRAFTS[1], DRAFTS[1]), (DRAFTS[2], DRAFTS[2])],
)
def test_the_fullest_form_that_fits_is_shown(qtbot: QtBot, room_for: str, shown: str) -> None:
    label = FittingLabel()
    qtbot.addWidget(label)
    label.resize(round(QFontMetricsF(label.font()).horizontalAdvance(room_for)) + 2, 20)
    label.say(DRAFTS)
    assert label.shown == shown
    assert label.toolTip() == label.accessibleName() == DRAFTS[0]


def test_a_name_takes_room_and_the_last_form_is_cut(qtbot: QtBot) -> None:
    label = FittingLabel()
    qtbot.addWidget(label)
    metrics = QFontMetricsF(label.font())
    label.resize(round(metrics.horizontalAdvance(f"FlowLM  {DRAFTS[2]}")), 20)
    label.say(DRAFTS, "FlowLM")
    assert label.sentence == f"FlowLM  {DRAFTS[0]}"
    assert label.shown.endswith("…")
    assert DRAFTS[2].startswith(label.shown[:-1])
