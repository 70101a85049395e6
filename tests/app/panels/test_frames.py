"""The time line: what it shows of a run, where it leads, and that it goes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kvstudio.app.frame_line.track import CellKind
from kvstudio.app.frame_line.words import EMPTY
from kvstudio.app.panels.frames import FramesPanel
from kvstudio.app.settings import Settings
from kvstudio.app.stage import NO_RECORDING
from kvstudio.app.theme import apply_theme, current_palette
from kvstudio.app.workspace import Workspace
from kvstudio.recording.rows import Frame, FrameRecord
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.frame_line.frame_line import FrameLine

SIZE = (900, 130)
STEPS = 8
LAST = STEPS + 1
"""Frames of `run`: a voice prefill, a text prefill, and the steps."""


@pytest.fixture
def workspace(qapp: QApplication) -> Iterator[Workspace]:
    apply_theme(qapp, "light")
    workspace = Workspace()
    yield workspace
    workspace.close()


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace) -> FramesPanel:
    panel = FramesPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(*SIZE)
    panel.show()
    return panel


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return FakeRun(tmp_path / "run.kvrec", layers=1, ops_per_frame=2)


def opened(panel: FramesPanel, run: FakeRun) -> FrameLine:
    assert panel.workspace.open(run.path)
    panel.refresh_now()
    return panel.line


def grow(panel: FramesPanel) -> None:
    panel.workspace.refresh()
    panel.refresh_now()


def add_frame(
    run: FakeRun,
    logit: float | None = -6.0,
    *,
    eos: bool = False,
    problem: str | None = None,
    ms: int = 42,
) -> None:
    """A decode step with nothing but what the time line shows."""
    run.frame += 1
    run.step += 1
    run.writer.add_frame(
        FrameRecord(
            Frame(
                id=run.frame,
                chunk=run.chunk,
                phase="decode",
                step=run.step,
                stop_logit=logit,
                stop_threshold=None if logit is None else -4.0,
                eos=eos,
                op_count=811,
                flow_lm_ns=(ms - 12) * 1_000_000,
                mimi_ns=12_000_000,
                began_ns=0,
                problem=problem,
            )
        )
    )


def begun(run: FakeRun, steps: int = 0, text: str = "Hello world.") -> FakeRun:
    run.begin_chunk(text)
    run.prefill()
    for _ in range(steps):
        add_frame(run)
    return run


def centre(line: FrameLine, frame: int) -> QPoint:
    return line.scene.cell_rect(frame).center().toPoint()


def click(line: FrameLine, place: QPoint) -> None:
    QTest.mouseClick(line.viewport(), Qt.MouseButton.LeftButton, pos=place)


def turn_wheel(line: FrameLine, at: QPoint, turns: int) -> None:
    event = QWheelEvent(
        QPointF(at),
        QPointF(line.viewport().mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(line.viewport(), event)


def tip(line: FrameLine, frame: int) -> str:
    return line.tip_at(QPointF(centre(line, frame))).replace("\N{MINUS SIGN}", "-")


def follows(panel: FramesPanel) -> tuple[bool, bool]:
    """Whether the cursor goes along, and whether the button says so."""
    return panel.workspace.following, panel.follow.isChecked()


def picture(line: FrameLine) -> QImage:
    return line.viewport().grab().toImage()


def has_color(
    image: QImage, left: float, top: float, right: float, bottom: float, color: str
) -> bool:
    wanted = QColor(color).rgb()
    return any(
        image.pixel(x, y) == wanted
        for x in range(round(left), round(right))
        for y in range(round(top), round(bottom))
    )


# ---- what it shows ----------------------------------------------------------------------------


def test_without_a_recording_or_frames_it_says_what_to_do(panel: FramesPanel, run: FakeRun) -> None:
    panel.refresh_now()
    assert panel.stage.sentence == NO_RECORDING
    opened(panel, run)
    assert panel.stage.sentence == EMPTY
    begun(run)
    grow(panel)
    assert panel.stage.sentence == ""


def test_every_frame_has_a_cell_in_the_colour_of_its_phase(
    panel: FramesPanel, run: FakeRun
) -> None:
    run.run(STEPS)
    line = opened(panel, run)
    panel.workspace.move(frame=5)
    panel.refresh_now()
    image, colors = picture(line), current_palette()
    shown = []
    for frame in range(LAST + 1):
        cell = line.scene.cell_rect(frame)
        shown.append(image.pixelColor(round(cell.left() + 4), round(cell.bottom() - 4)).name())
    assert shown == [colors.voice, colors.text_slot] + STEPS * [colors.generated]


@pytest.mark.parametrize("frames", [2, 30, 300, 2_000])
def test_all_frames_fit_and_are_found_where_they_lie(
    panel: FramesPanel, run: FakeRun, frames: int
) -> None:
    run.begin_chunk()
    run.writer.finish("finished")
    opened(panel, run)
    template = panel.track[0]
    panel.track.clear()
    made = [
        Frame(**{**vars(template), "id": n, "phase": "decode", "step": n}) for n in range(frames)
    ]
    panel.track.take_in(made)
    panel.line.show_track({}, growing=False)
    scene = panel.line.scene
    assert scene.x_of(0) == scene.left
    assert scene.x_of(frames) <= scene.right + 0.01
    assert len(scene.shown) == frames
    for frame in {0, 1, frames // 2, frames - 1}:
        assert scene.frame_at(scene.x_of(frame + 0.5)) == frame
    assert not picture(panel.line).isNull()


def test_several_chunks_are_told_apart_by_their_texts(panel: FramesPanel, run: FakeRun) -> None:
    begun(run, 3, "First of all.")
    run.begin_chunk("Then the rest.", continues=0)
    run.prefill()
    line = opened(panel, run)
    assert panel.track.chunk_starts == [(0, 0), (5, 1)]
    assert line.scene.layout.chunks.height() > 0
    assert "chunk 1: First of all." in tip(line, 4)
    assert "chunk 2: Then the rest." in tip(line, 5)


def test_the_logit_is_drawn_below_its_threshold_until_eos(panel: FramesPanel, run: FakeRun) -> None:
    begun(run, 5)
    add_frame(run, -3.0, eos=True)
    add_frame(run, -2.0, eos=True)
    run.writer.finish("finished")
    line = opened(panel, run)
    scene, colors = line.scene, current_palette()
    assert scene.y_of_logit(-6.0) > scene.y_of_logit(-4.0) > scene.y_of_logit(-3.0)
    assert scene.layout.plot.top() < scene.y_of_logit(-2.0)
    image = picture(line)
    place = centre(line, 3)
    y = scene.y_of_logit(-6.0)
    assert has_color(image, place.x() - 2, y - 3, place.x() + 3, y + 3, colors.eos_logit)
    dashes = round(scene.y_of_logit(-4.0))
    assert has_color(image, scene.x_of(2), dashes, scene.x_of(6), dashes + 1, colors.threshold)
    assert panel.track.first_eos == [7], "the frame that ends it, not those after"
    flag = scene.x_of(7.5) + 3
    top = scene.layout.plot.top() + 2
    assert has_color(image, flag, top, flag + 6, top + 6, colors.eos_logit)


def test_a_logit_that_is_no_number_is_marked_as_nan(panel: FramesPanel, run: FakeRun) -> None:
    begun(run, 3)
    add_frame(run, float("nan"))
    add_frame(run, float("nan"))
    line = opened(panel, run)
    assert np.flatnonzero(panel.track.lacks_number).tolist() == [5, 6]
    plot, scene = line.scene.layout.plot, line.scene
    image, color = picture(line), current_palette().nan
    assert has_color(image, scene.x_of(5) + 1, plot.top(), scene.x_of(6), plot.bottom(), color)
    assert not has_color(image, scene.x_of(3), plot.top(), scene.x_of(5) - 1, plot.bottom(), color)
    assert "stop logit NaN, which never ends" in tip(line, 6)


def test_a_frame_that_ended_early_is_loud(panel: FramesPanel, run: FakeRun) -> None:
    begun(run, 3)
    add_frame(run, problem="RuntimeError: <b>boom</b>")
    line = opened(panel, run)
    panel.workspace.move(frame=3)
    panel.refresh_now()
    assert panel.track.kinds[5] == CellKind.PROBLEM
    cell = line.scene.cell_rect(5)
    color = picture(line).pixelColor(round(cell.left() + 4), round(cell.bottom() - 4)).name()
    assert color == current_palette().error
    said = tip(line, 5)
    assert "ended early: RuntimeError: &lt;b&gt;boom&lt;/b&gt;" in said, "never taken for markup"


def test_the_tip_says_everything_about_a_frame(panel: FramesPanel, run: FakeRun) -> None:
    begun(run, 1)
    add_frame(run, -6.25)
    add_frame(run, -3.5, eos=True, ms=92)
    line = opened(panel, run)
    assert tip(line, 3).removeprefix("<qt>").removesuffix("</qt>").split("<br>") == [
        "Frame 3: decode step 1",
        "chunk 1: Hello world.",
        "stop logit -6.25, below the threshold of -4",
        "811 ops, 42 ms (FlowLM 30, Mimi 12)",
    ]
    slow = tip(line, 4)
    assert "stop logit -3.5, above the threshold of -4: EOS" in slow
    assert "92 ms (FlowLM 80, Mimi 12), longer than its 80 ms of speech" in slow
    assert line.tip_at(QPointF(2.0, 30.0)) == "", "left of the first frame"


def test_times_are_shown_on_demand_and_remembered(
    qtbot: QtBot, panel: FramesPanel, run: FakeRun
) -> None:
    begun(run, 3)
    add_frame(run, ms=160)
    line = opened(panel, run)
    panel.workspace.move(frame=2)
    panel.refresh_now()
    assert line.scene.layout.times.height() == 0
    QTest.mouseClick(panel.times, Qt.MouseButton.LeftButton)
    row, scene, colors = line.scene.layout.times, line.scene, current_palette()
    image = picture(line)

    def bar(frame: int, color: str) -> bool:
        left, right = scene.x_of(frame) + 2, scene.x_of(frame + 1) - 2
        return has_color(image, left, row.top(), right, row.bottom(), color)

    assert bar(3, colors.generated)
    assert bar(3, colors.voice)
    assert not bar(3, colors.warning)
    assert bar(5, colors.warning), "slower than speech"
    assert Settings().remembered("frames") == {"times": True}
    other = FramesPanel(panel.workspace)
    qtbot.addWidget(other)
    assert other.times.isChecked()


# ---- where it leads ---------------------------------------------------------------------------


def test_a_click_goes_to_a_frame(panel: FramesPanel, run: FakeRun) -> None:
    run.run(STEPS)
    line = opened(panel, run)
    click(line, centre(line, 4))
    assert panel.workspace.cursor.frame == 4
    click(line, QPoint(centre(line, 6).x(), round(line.scene.layout.plot.center().y())))
    assert panel.workspace.cursor.frame == 6, "the plot is as good as the cell"


def test_a_drag_scrubs(panel: FramesPanel, run: FakeRun) -> None:
    run.run(STEPS)
    line = opened(panel, run)
    seen: list[int | None] = []
    panel.workspace.cursor_moved.connect(lambda old, new: seen.append(new.frame))
    QTest.mousePress(line.viewport(), Qt.MouseButton.LeftButton, pos=centre(line, 2))
    for frame in (3, 4, 5):
        QTest.mouseMove(line.viewport(), centre(line, frame))
    QTest.mouseMove(line.viewport(), QPoint(5_000, 10))
    QTest.mouseRelease(line.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5_000, 10))
    assert seen == [2, 3, 4, 5, LAST]
    QTest.mouseMove(line.viewport(), centre(line, 1))
    assert panel.workspace.cursor.frame == LAST, "released"


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
    panel: FramesPanel, run: FakeRun, key: Qt.Key, target: int
) -> None:
    line = opened(panel, begun(run, 50))
    panel.workspace.move(frame=30)
    panel.refresh_now()
    QTest.keyClick(line, key)
    assert panel.workspace.cursor.frame == target


def test_keys_stop_at_both_ends(panel: FramesPanel, run: FakeRun) -> None:
    run.run(STEPS)
    line = opened(panel, run)
    QTest.keyClick(line, Qt.Key.Key_Right)
    assert panel.workspace.cursor.frame == LAST
    for _ in range(2):
        QTest.keyClick(line, Qt.Key.Key_PageUp)
        panel.refresh_now()
    assert panel.workspace.cursor.frame == 0


def test_the_wheel_magnifies_where_the_pointer_is(panel: FramesPanel, run: FakeRun) -> None:
    line = opened(panel, begun(run, 200))
    panel.workspace.move(frame=100)
    panel.refresh_now()
    place = centre(line, 60)
    turn_wheel(line, place, 6)
    assert line.zoom > 3
    assert abs(line.scene.frame_at(place.x()) - 60) <= 1
    turn_wheel(line, place, -20)
    assert line.zoom == 1


def test_fit_and_a_double_click_show_all_again(panel: FramesPanel, run: FakeRun) -> None:
    line = opened(panel, begun(run, 200))
    everything = len(line.scene.shown)
    line.set_zoom(5)
    assert len(line.scene.shown) < everything
    QTest.mouseClick(panel.whole, Qt.MouseButton.LeftButton)
    assert len(line.scene.shown) == everything
    line.set_zoom(5)
    QTest.mouseDClick(line.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 30))
    assert len(line.scene.shown) == everything


def test_a_cursor_moved_elsewhere_is_brought_into_view(panel: FramesPanel, run: FakeRun) -> None:
    line = opened(panel, begun(run, 200))
    line.set_zoom(10)
    for frame in (3, 120, 60):
        panel.workspace.move(frame=frame)
        panel.refresh_now()
        assert frame in line.scene.shown
        cell = line.scene.cell_rect(frame)
        assert line.scene.left <= cell.left()
        assert cell.right() <= line.scene.right


# ---- a run that goes on -----------------------------------------------------------------------


def test_it_grows_and_goes_along(panel: FramesPanel, run: FakeRun) -> None:
    line = opened(panel, begun(run, 30))
    line.set_zoom(8)
    for _ in range(60):
        add_frame(run)
    grow(panel)
    assert len(panel.track) == 92
    assert panel.workspace.cursor.frame == 91
    assert 91 in line.scene.shown
    assert line.scene.cell_rect(91).right() <= line.scene.right


def test_a_cell_keeps_its_place_while_there_is_room(panel: FramesPanel, run: FakeRun) -> None:
    line = opened(panel, begun(run, 2))
    before = line.scene.cell_rect(3)
    add_frame(run)
    grow(panel)
    assert line.scene.cell_rect(3) == before


def test_looking_back_stops_following_and_the_head_starts_it(
    panel: FramesPanel, run: FakeRun
) -> None:
    line = opened(panel, begun(run, 10))
    assert follows(panel) == (True, True)
    click(line, centre(line, 4))
    panel.refresh_now()
    assert follows(panel) == (False, False)
    add_frame(run)
    grow(panel)
    assert panel.workspace.cursor.frame == 4, "the run goes on, the view stays"
    click(line, line.scene.head_rect.center().toPoint())
    panel.refresh_now()
    assert panel.workspace.cursor.frame == 12
    assert follows(panel) == (True, True)


def test_the_follow_button_stops_and_starts_it(panel: FramesPanel, run: FakeRun) -> None:
    opened(panel, begun(run, 10))
    QTest.mouseClick(panel.follow, Qt.MouseButton.LeftButton)
    assert follows(panel) == (False, False)
    assert panel.workspace.cursor.frame == 11
    add_frame(run)
    grow(panel)
    assert panel.workspace.cursor.frame == 11
    QTest.mouseClick(panel.follow, Qt.MouseButton.LeftButton)
    assert panel.workspace.cursor.frame == 12


def test_the_head_is_gone_when_the_run_has_ended(
    qtbot: QtBot, panel: FramesPanel, run: FakeRun
) -> None:
    line = opened(panel, begun(run, 10))
    assert line.scene.head
    run.writer.finish("finished")
    panel.workspace.refresh()
    qtbot.waitUntil(lambda: not line.scene.head)


def test_a_hidden_panel_does_nothing_until_it_is_shown(panel: FramesPanel, run: FakeRun) -> None:
    opened(panel, begun(run, 2))
    panel.hide()
    add_frame(run)
    grow(panel)
    assert len(panel.track) == 4
    panel.show()
    assert len(panel.track) == 5


def test_another_recording_replaces_the_frames(
    panel: FramesPanel, run: FakeRun, tmp_path: Path
) -> None:
    opened(panel, begun(run, 40))
    panel.line.set_zoom(3)
    other = FakeRun(tmp_path / "other.kvrec", layers=1)
    other.run(3)
    line = opened(panel, other)
    assert len(panel.track) == 5
    assert line.zoom == 1
    assert not line.scene.head
