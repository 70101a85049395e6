"""A bench for the Frames panel: its helpers to read it, point at it and make runs grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kvstudio.recording.rows import Frame, FrameRecord

if TYPE_CHECKING:
    from kvstudio.app.frame_line.frame_line import FrameLine
    from kvstudio.app.panels.frames import FramesPanel
    from tests.fakes import FakeRun

SIZE = (900, 130)
STEPS = 8
LAST = STEPS + 1
"""Frames of `run`: a voice prefill, a text prefill, and the steps."""


def opened(frames: FramesPanel, run: FakeRun) -> FrameLine:
    assert frames.workspace.open(run.path)
    frames.refresh_now()
    return frames.line


def grow(frames: FramesPanel) -> None:
    frames.workspace.refresh()
    frames.refresh_now()


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


def follows(frames: FramesPanel) -> tuple[bool, bool]:
    """Whether the cursor goes along, and whether the button says so."""
    return frames.workspace.following, frames.follow.isChecked()


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
