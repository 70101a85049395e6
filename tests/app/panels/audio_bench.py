"""A bench for the Audio panel: its helpers to read it, point at it and make runs speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kvstudio.recording.rows import Frame, FrameRecord
from tests.fakes import FRAME_SAMPLES, FakeRun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kvstudio.app.panels.audio import AudioPanel
    from kvstudio.app.sound.sound_view import SoundView

SIZE = (1280, 220)
FIRST = 2
"""The first frame with samples: 0 and 1 are prefills."""


def begun(run: FakeRun, frames: int = 0) -> FakeRun:
    run.begin_chunk()
    run.prefill()
    for _ in range(frames):
        run.decode()
    return run


def opened(audio: AudioPanel, run: FakeRun) -> SoundView:
    assert audio.workspace.open(run.path)
    audio.refresh_now()
    return audio.view


def grow(audio: AudioPanel) -> None:
    audio.workspace.refresh()
    audio.refresh_now()


def speak(run: FakeRun, samples: NDArray[np.float32]) -> None:
    """A decode step that yields just these samples."""
    run.frame += 1
    run.step += 1
    facts = {"stop_logit": -6.0, "stop_threshold": 0.0, "eos": False, "op_count": 0}
    times = {"flow_lm_ns": 0, "mimi_ns": 0, "began_ns": 0}
    frame = Frame(run.frame, run.chunk, "decode", run.step, **facts, **times)  # type: ignore[arg-type]
    run.writer.add_frame(FrameRecord(frame, audio=samples))


def go_to(audio: AudioPanel, frame: int) -> None:
    audio.workspace.move(frame=frame)
    audio.refresh_now()


def place(view: SoundView, sample: float) -> QPoint:
    """A point in the waveform."""
    return QPoint(round(view.scene.x_of_sample(sample)), round(view.scene.layout.wave.center().y()))


def middle(frame: int) -> float:
    """The sample in the middle of a frame of `FakeRun`."""
    return (frame - FIRST + 0.5) * FRAME_SAMPLES


def click(view: SoundView, sample: float) -> None:
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=place(view, sample))


def drag(
    view: SoundView,
    start: QPoint,
    end: QPoint,
    button: Qt.MouseButton = Qt.MouseButton.LeftButton,
) -> None:
    QTest.mousePress(view, button, pos=start)
    QTest.mouseMove(view, (start + end) / 2)
    QTest.mouseMove(view, end)
    QTest.mouseRelease(view, button, pos=end)


def turn_wheel(view: SoundView, at: QPoint, turns: int, *, shift: bool = False) -> None:
    keys = Qt.KeyboardModifier
    event = QWheelEvent(
        QPointF(at),
        QPointF(view.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        keys.ShiftModifier if shift else keys.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)


def press(audio: AudioPanel, button: str) -> None:
    QTest.mouseClick(audio.bar.buttons[button], Qt.MouseButton.LeftButton)


def has_color(image: QImage, rect: QRect, color: str) -> bool:
    wanted = QColor(color).rgb()
    rect = rect.intersected(image.rect())
    return any(
        image.pixel(x, y) == wanted
        for x in range(rect.left(), rect.right() + 1)
        for y in range(rect.top(), rect.bottom() + 1)
    )


def between(view: SoundView, first: float, last: float) -> QRect:
    """The waveform from one sample to another."""
    wave = view.scene.layout.wave
    left, right = round(view.scene.x_of_sample(first)), round(view.scene.x_of_sample(last))
    return QRect(left, round(wave.top()), right - left, round(wave.height()))


def words(audio: AudioPanel) -> str:
    return audio.bar.words.sentence


def trouble(audio: AudioPanel) -> str:
    """What is said in the colour of errors; empty if nothing is."""
    return audio.bar.trouble.sentence if audio.bar.trouble.isVisible() else ""
