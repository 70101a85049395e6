"""Where mouse and keys lead on the time line, and that it goes along with a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.app.panels.frames_bench import (
    LAST,
    STEPS,
    add_frame,
    begun,
    centre,
    click,
    follows,
    grow,
    opened,
    turn_wheel,
)
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.panels.frames import FramesPanel


def test_a_click_goes_to_a_frame(frames: FramesPanel, run: FakeRun) -> None:
    run.run(STEPS)
    line = opened(frames, run)
    click(line, centre(line, 4))
    assert frames.workspace.cursor.frame == 4
    click(line, QPoint(centre(line, 6).x(), round(line.scene.layout.plot.center().y())))
    assert frames.workspace.cursor.frame == 6, "the plot is as good as the cell"


def test_a_drag_scrubs(frames: FramesPanel, run: FakeRun) -> None:
    run.run(STEPS)
    line = opened(frames, run)
    seen: list[int | None] = []
    frames.workspace.cursor_moved.connect(lambda old, new: seen.append(new.frame))
    QTest.mousePress(line.viewport(), Qt.MouseButton.LeftButton, pos=centre(line, 2))
    for frame in (3, 4, 5):
        QTest.mouseMove(line.viewport(), centre(line, frame))
    QTest.mouseMove(line.viewport(), QPoint(5_000, 10))
    QTest.mouseRelease(line.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5_000, 10))
    assert seen == [2, 3, 4, 5, LAST]
    QTest.mouseMove(line.viewport(), centre(line, 1))
    assert frames.workspace.cursor.frame == LAST, "released"


@pytest.mark.parametrize(
    ("key", "target"),
    [
        (Qt.Key.Key_Left, 29),
        (Qt.Key.Key_Right, 31),
        (Qt.Key.Key_PageUp, 20),
        (Qt.Key.Key_PageDown, 40),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_End, 51),
    ],
)
def test_keys_go_from_frame_to_frame(
    frames: FramesPanel, run: FakeRun, key: Qt.Key, target: int
) -> None:
    line = opened(frames, begun(run, 50))
    frames.workspace.move(frame=30)
    frames.refresh_now()
    QTest.keyClick(line, key)
    assert frames.workspace.cursor.frame == target


def test_keys_stop_at_both_ends(frames: FramesPanel, run: FakeRun) -> None:
    run.run(STEPS)
    line = opened(frames, run)
    QTest.keyClick(line, Qt.Key.Key_Right)
    assert frames.workspace.cursor.frame == LAST
    for _ in range(2):
        QTest.keyClick(line, Qt.Key.Key_PageUp)
        frames.refresh_now()
    assert frames.workspace.cursor.frame == 0


def test_the_wheel_magnifies_where_the_pointer_is(frames: FramesPanel, run: FakeRun) -> None:
    line = opened(frames, begun(run, 200))
    frames.workspace.move(frame=100)
    frames.refresh_now()
    place = centre(line, 60)
    turn_wheel(line, place, 6)
    assert line.zoom > 3
    assert abs(line.scene.frame_at(place.x()) - 60) <= 1
    turn_wheel(line, place, -20)
    assert line.zoom == 1


def test_fit_and_a_double_click_show_all_again(frames: FramesPanel, run: FakeRun) -> None:
    line = opened(frames, begun(run, 200))
    everything = len(line.scene.shown)
    line.set_zoom(5)
    assert len(line.scene.shown) < everything
    QTest.mouseClick(frames.whole, Qt.MouseButton.LeftButton)
    assert len(line.scene.shown) == everything
    line.set_zoom(5)
    QTest.mouseDClick(line.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 30))
    assert len(line.scene.shown) == everything


def test_a_cursor_moved_elsewhere_is_brought_into_view(frames: FramesPanel, run: FakeRun) -> None:
    line = opened(frames, begun(run, 200))
    line.set_zoom(10)
    for frame in (3, 120, 60):
        frames.workspace.move(frame=frame)
        frames.refresh_now()
        assert frame in line.scene.shown
        cell = line.scene.cell_rect(frame)
        assert line.scene.left <= cell.left()
        assert cell.right() <= line.scene.right


def test_it_grows_and_goes_along(frames: FramesPanel, run: FakeRun) -> None:
    line = opened(frames, begun(run, 30))
    line.set_zoom(8)
    for _ in range(60):
        add_frame(run)
    grow(frames)
    assert len(frames.track) == 92
    assert frames.workspace.cursor.frame == 91
    assert 91 in line.scene.shown
    assert line.scene.cell_rect(91).right() <= line.scene.right


def test_a_cell_keeps_its_place_while_there_is_room(frames: FramesPanel, run: FakeRun) -> None:
    line = opened(frames, begun(run, 2))
    before = line.scene.cell_rect(3)
    add_frame(run)
    grow(frames)
    assert line.scene.cell_rect(3) == before


def test_looking_back_stops_following_and_the_head_starts_it(
    frames: FramesPanel, run: FakeRun
) -> None:
    line = opened(frames, begun(run, 10))
    assert follows(frames) == (True, True)
    click(line, centre(line, 4))
    frames.refresh_now()
    assert follows(frames) == (False, False)
    add_frame(run)
    grow(frames)
    assert frames.workspace.cursor.frame == 4, "the run goes on, the view stays"
    click(line, line.scene.head_rect.center().toPoint())
    frames.refresh_now()
    assert frames.workspace.cursor.frame == 12
    assert follows(frames) == (True, True)


def test_the_follow_button_stops_and_starts_it(frames: FramesPanel, run: FakeRun) -> None:
    opened(frames, begun(run, 10))
    QTest.mouseClick(frames.follow, Qt.MouseButton.LeftButton)
    assert follows(frames) == (False, False)
    assert frames.workspace.cursor.frame == 11
    add_frame(run)
    grow(frames)
    assert frames.workspace.cursor.frame == 11
    QTest.mouseClick(frames.follow, Qt.MouseButton.LeftButton)
    assert frames.workspace.cursor.frame == 12


def test_the_head_is_gone_when_the_run_has_ended(
    qtbot: QtBot, frames: FramesPanel, run: FakeRun
) -> None:
    line = opened(frames, begun(run, 10))
    assert line.scene.head
    run.writer.finish("finished")
    frames.workspace.refresh()
    qtbot.waitUntil(lambda: not line.scene.head)


def test_a_hidden_panel_does_nothing_until_it_is_shown(frames: FramesPanel, run: FakeRun) -> None:
    opened(frames, begun(run, 2))
    frames.hide()
    add_frame(run)
    grow(frames)
    assert len(frames.track) == 4
    frames.show()
    assert len(frames.track) == 5


def test_another_recording_replaces_the_frames(
    frames: FramesPanel, run: FakeRun, tmp_path: Path
) -> None:
    opened(frames, begun(run, 40))
    frames.line.set_zoom(3)
    other = FakeRun(tmp_path / "other.kvrec", layers=1)
    other.run(3)
    line = opened(frames, other)
    assert len(frames.track) == 5
    assert line.zoom == 1
    assert not line.scene.head
