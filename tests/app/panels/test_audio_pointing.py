"""Where mouse and keys lead in the picture of a sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.app.panels.audio_bench import (
    FIRST,
    begun,
    click,
    drag,
    go_to,
    middle,
    opened,
    place,
    press,
    turn_wheel,
    words,
)
from tests.fakes import FRAME_SAMPLES, FakeRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvstudio.app.panels.audio import AudioPanel


def test_a_click_selects_the_frame(audio: AudioPanel, run: FakeRun) -> None:
    run.run(8)
    view = opened(audio, run)
    for frame in (FIRST, 5, 9):
        click(view, middle(frame))
        assert audio.workspace.cursor.frame == frame


def test_a_click_beside_the_sound_selects_nothing(audio: AudioPanel, run: FakeRun) -> None:
    view = opened(audio, begun(run, 4))
    go_to(audio, 3)
    click(view, 5 * FRAME_SAMPLES)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(4, 60))
    assert audio.workspace.cursor.frame == 3


def test_a_drag_selects_a_range_that_snaps_to_frames(audio: AudioPanel, run: FakeRun) -> None:
    run.run(8)
    view = opened(audio, run)
    drag(view, place(view, 2 * FRAME_SAMPLES) + QPoint(2, 0), place(view, 5 * FRAME_SAMPLES))
    assert view.selection == (2 * FRAME_SAMPLES, 5 * FRAME_SAMPLES)
    assert words(audio) == "0.16 s to 0.40 s (0.24 s, frames 4 to 6) selected"
    assert audio.workspace.cursor.frame == 9, "a drag does not move the cursor"
    drag(view, place(view, middle(4)), place(view, 0) - QPoint(40, 0))
    assert view.selection is not None
    assert view.selection[0] == 0
    assert view.selection[1] == pytest.approx(middle(4), abs=20)


def test_a_click_and_escape_clear_the_selection(audio: AudioPanel, run: FakeRun) -> None:
    run.run(8)
    view = opened(audio, run)
    clearings: list[Callable[[], None]] = [
        lambda: click(view, middle(3)),
        lambda: QTest.keyClick(view, Qt.Key.Key_Escape),
    ]
    for clear in clearings:
        drag(view, place(view, middle(3)), place(view, middle(6)))
        assert view.selection is not None
        clear()
        assert view.selection is None


def test_the_wheel_magnifies_at_the_pointer_and_goes_along(audio: AudioPanel, run: FakeRun) -> None:
    run.run(30)
    view = opened(audio, run)
    at = place(view, middle(20))
    turn_wheel(view, at, 8)
    axis = view.scene.axis
    assert axis.span == pytest.approx(2.4 / 1.25**8)
    assert place(view, middle(20)).x() == pytest.approx(at.x(), abs=1)
    turn_wheel(view, at, -2, shift=True)
    assert view.scene.axis.first == pytest.approx(axis.first + axis.span / 5)
    turn_wheel(view, at, -40)
    assert view.scene.axis.is_whole


@pytest.mark.parametrize("button", [Qt.MouseButton.MiddleButton, Qt.MouseButton.LeftButton])
def test_dragging_the_picture_goes_along(
    audio: AudioPanel, run: FakeRun, button: Qt.MouseButton
) -> None:
    run.run(30)
    view = opened(audio, run)
    view.zoom(8)
    before = view.scene.axis
    shift = button is Qt.MouseButton.LeftButton
    keys = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    QTest.mousePress(view, button, keys, QPoint(600, 60))
    QTest.mouseMove(view, QPoint(500, 60))
    QTest.mouseRelease(view, button, keys, QPoint(500, 60))
    moved = view.scene.axis.first - before.first
    assert moved == pytest.approx(100 / before.pixels_per_second)
    assert view.selection is None


def test_keys_buttons_and_a_double_click_magnify_and_fit(audio: AudioPanel, run: FakeRun) -> None:
    run.run(30)
    view = opened(audio, run)
    fittings: list[Callable[[], None]] = [
        lambda: QTest.keyClick(view, Qt.Key.Key_0),
        lambda: press(audio, "whole"),
        lambda: QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=QPoint(300, 60)),
    ]
    for fit in fittings:
        QTest.keyClick(view, Qt.Key.Key_Plus)
        assert not view.scene.axis.is_whole
        fit()
        assert view.scene.axis.is_whole


def test_a_frame_chosen_elsewhere_comes_into_view(audio: AudioPanel, run: FakeRun) -> None:
    run.run(30)
    view = opened(audio, run)
    view.zoom(12)
    for frame in (3, 28, 15):
        go_to(audio, frame)
        axis = view.scene.axis
        assert axis.first <= (frame - FIRST) * 0.08 + 1e-9
        assert (frame - FIRST + 1) * 0.08 <= axis.last + 1e-9
