"""What the time line shows of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from kvstudio.app.frame_line.track import CellKind
from kvstudio.app.frame_line.words import EMPTY
from kvstudio.app.panels.frames import FramesPanel
from kvstudio.app.settings import Settings
from kvstudio.app.stage import NO_RECORDING
from kvstudio.app.theme import current_palette
from kvstudio.recording.rows import Frame
from tests.app.panels.frames_bench import (
    LAST,
    STEPS,
    add_frame,
    begun,
    centre,
    grow,
    has_color,
    opened,
    picture,
    tip,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.fakes import FakeRun


def test_without_a_recording_or_frames_it_says_what_to_do(
    frames: FramesPanel, run: FakeRun
) -> None:
    frames.refresh_now()
    assert frames.stage.sentence == NO_RECORDING
    opened(frames, run)
    assert frames.stage.sentence == EMPTY
    begun(run)
    grow(frames)
    assert frames.stage.sentence == ""


def test_every_frame_has_a_cell_in_the_colour_of_its_phase(
    frames: FramesPanel, run: FakeRun
) -> None:
    run.run(STEPS)
    line = opened(frames, run)
    frames.workspace.move(frame=5)
    frames.refresh_now()
    image, colors = picture(line), current_palette()
    shown = []
    for frame in range(LAST + 1):
        cell = line.scene.cell_rect(frame)
        shown.append(image.pixelColor(round(cell.left() + 4), round(cell.bottom() - 4)).name())
    assert shown == [colors.voice, colors.text_slot] + STEPS * [colors.generated]


@pytest.mark.parametrize("count", [2, 30, 300, 2_000])
def test_all_frames_fit_and_are_found_where_they_lie(
    frames: FramesPanel, run: FakeRun, count: int
) -> None:
    run.begin_chunk()
    run.writer.finish("finished")
    opened(frames, run)
    template = frames.track[0]
    frames.track.clear()
    made = [
        Frame(**{**vars(template), "id": n, "phase": "decode", "step": n}) for n in range(count)
    ]
    frames.track.take_in(made)
    frames.line.show_track({}, growing=False)
    scene = frames.line.scene
    assert scene.x_of(0) == scene.left
    assert scene.x_of(count) <= scene.right + 0.01
    assert len(scene.shown) == count
    for frame in {0, 1, count // 2, count - 1}:
        assert scene.frame_at(scene.x_of(frame + 0.5)) == frame
    assert not picture(frames.line).isNull()


def test_several_chunks_are_told_apart_by_their_texts(frames: FramesPanel, run: FakeRun) -> None:
    begun(run, 3, "First of all.")
    run.begin_chunk("Then the rest.", continues=0)
    run.prefill()
    line = opened(frames, run)
    assert frames.track.chunk_starts == [(0, 0), (5, 1)]
    assert line.scene.layout.chunks.height() > 0
    assert "chunk 1: First of all." in tip(line, 4)
    assert "chunk 2: Then the rest." in tip(line, 5)


def test_the_logit_is_drawn_below_its_threshold_until_eos(
    frames: FramesPanel, run: FakeRun
) -> None:
    begun(run, 5)
    add_frame(run, -3.0, eos=True)
    add_frame(run, -2.0, eos=True)
    run.writer.finish("finished")
    line = opened(frames, run)
    scene, colors = line.scene, current_palette()
    assert scene.y_of_logit(-6.0) > scene.y_of_logit(-4.0) > scene.y_of_logit(-3.0)
    assert scene.layout.plot.top() < scene.y_of_logit(-2.0)
    image = picture(line)
    place = centre(line, 3)
    y = scene.y_of_logit(-6.0)
    assert has_color(image, place.x() - 2, y - 3, place.x() + 3, y + 3, colors.eos_logit)
    dashes = round(scene.y_of_logit(-4.0))
    assert has_color(image, scene.x_of(2), dashes, scene.x_of(6), dashes + 1, colors.threshold)
    assert frames.track.first_eos == [7], "the frame that ends it, not those after"
    flag = scene.x_of(7.5) + 3
    top = scene.layout.plot.top() + 2
    assert has_color(image, flag, top, flag + 6, top + 6, colors.eos_logit)


def test_a_logit_that_is_no_number_is_marked_as_nan(frames: FramesPanel, run: FakeRun) -> None:
    begun(run, 3)
    add_frame(run, float("nan"))
    add_frame(run, float("nan"))
    line = opened(frames, run)
    assert np.flatnonzero(frames.track.lacks_number).tolist() == [5, 6]
    plot, scene = line.scene.layout.plot, line.scene
    image, color = picture(line), current_palette().nan
    assert has_color(image, scene.x_of(5) + 1, plot.top(), scene.x_of(6), plot.bottom(), color)
    assert not has_color(image, scene.x_of(3), plot.top(), scene.x_of(5) - 1, plot.bottom(), color)
    assert "stop logit NaN, which never ends" in tip(line, 6)


def test_a_frame_that_ended_early_is_loud(frames: FramesPanel, run: FakeRun) -> None:
    begun(run, 3)
    add_frame(run, problem="RuntimeError: <b>boom</b>")
    line = opened(frames, run)
    frames.workspace.move(frame=3)
    frames.refresh_now()
    assert frames.track.kinds[5] == CellKind.PROBLEM
    cell = line.scene.cell_rect(5)
    color = picture(line).pixelColor(round(cell.left() + 4), round(cell.bottom() - 4)).name()
    assert color == current_palette().error
    said = tip(line, 5)
    assert "ended early: RuntimeError: &lt;b&gt;boom&lt;/b&gt;" in said, "never taken for markup"


def test_the_tip_says_everything_about_a_frame(frames: FramesPanel, run: FakeRun) -> None:
    begun(run, 1)
    add_frame(run, -6.25)
    add_frame(run, -3.5, eos=True, ms=92)
    line = opened(frames, run)
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
    qtbot: QtBot, frames: FramesPanel, run: FakeRun
) -> None:
    begun(run, 3)
    add_frame(run, ms=160)
    line = opened(frames, run)
    frames.workspace.move(frame=2)
    frames.refresh_now()
    assert line.scene.layout.times.height() == 0
    QTest.mouseClick(frames.times, Qt.MouseButton.LeftButton)
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
    other = FramesPanel(frames.workspace)
    qtbot.addWidget(other)
    assert other.times.isChecked()
