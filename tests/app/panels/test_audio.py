"""What is seen of a run's sound, and how it grows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRect

from kvstudio.app.panels.audio import AudioPanel
from kvstudio.app.sound.words import EMPTY, SILENT_END, point_words
from kvstudio.app.stage import NO_RECORDING
from kvstudio.app.theme import current_palette
from tests.app.panels.audio_bench import (
    FIRST,
    SIZE,
    begun,
    between,
    drag,
    go_to,
    grow,
    has_color,
    middle,
    opened,
    place,
    press,
    speak,
    trouble,
    words,
)
from tests.app.panels.stand_in_player import StandInPlayer
from tests.fakes import FRAME_SAMPLES, SAMPLE_RATE, FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


def test_without_sound_it_says_what_to_do(audio: AudioPanel, run: FakeRun) -> None:
    audio.refresh_now()
    assert audio.stage.sentence == NO_RECORDING
    opened(audio, begun(run))
    assert audio.stage.sentence == EMPTY
    assert not audio.bar.buttons["play"].isEnabled()
    run.decode()
    grow(audio)
    assert audio.stage.sentence == ""
    assert audio.bar.buttons["play"].isEnabled()


def test_a_run_that_ended_before_any_sound_is_no_riddle(audio: AudioPanel, run: FakeRun) -> None:
    begun(run).writer.finish("stopped")
    opened(audio, run)
    assert audio.stage.sentence == SILENT_END


def test_each_frame_lies_where_its_samples_are(audio: AudioPanel, run: FakeRun) -> None:
    run.run(8)
    view = opened(audio, run)
    wave = view.scene.layout.wave
    width = wave.width() / 8
    for frame in range(FIRST, FIRST + 8):
        go_to(audio, frame)
        assert view.overlay.frame == (
            frame,
            (frame - FIRST) * FRAME_SAMPLES,
            (frame - FIRST + 1) * FRAME_SAMPLES,
        )
        left = view.scene.x_of_sample(view.overlay.frame[1])
        assert left == pytest.approx(wave.left() + (frame - FIRST) * width)
    assert words(audio) == "frame 9: 0.56 s to 0.64 s of 0.64 s"


def test_a_prefill_has_no_samples_and_says_so(audio: AudioPanel, run: FakeRun) -> None:
    run.run(3)
    view = opened(audio, run)
    go_to(audio, 1)
    assert view.overlay.frame is None
    assert words(audio) == "frame 1, text prefill: no samples of its own"


def test_the_frame_of_the_cursor_is_shaded(audio: AudioPanel, run: FakeRun) -> None:
    run.run(8)
    view = opened(audio, run)
    go_to(audio, 5)
    quiet = round(view.scene.layout.wave.bottom()) - 4
    image = view.grab().toImage()
    shades = [
        image.pixelColor(round(view.scene.x_of_sample(middle(frame))) + 7, quiet).name()
        for frame in range(FIRST, FIRST + 8)
    ]
    assert [n + FIRST for n, shade in enumerate(shades) if shade != shades[0]] == [5]


@pytest.mark.parametrize("size", [(400, 150), (1280, 220), (1920, 300)])
def test_a_click_of_one_sample_in_a_minute_of_silence_is_seen(
    audio: AudioPanel, run: FakeRun, size: tuple[int, int]
) -> None:
    samples = np.zeros(60 * SAMPLE_RATE, np.float32)
    at = 1_000_001
    samples[at] = 0.45
    begun(run)
    speak(run, samples)
    audio.resize(*size)
    view = opened(audio, run)
    go_to(audio, 0)
    assert view.scene.limit == 0.5
    image, wave = view.grab().toImage(), view.scene.layout.wave
    up = QRect(place(view, at).x() - 1, round(wave.top()), 3, round(wave.height() * 0.3))
    assert has_color(image, up, current_palette().waveform)
    up.moveLeft(up.left() - 20)
    assert not has_color(image, up, current_palette().waveform)


def test_samples_that_are_no_numbers_are_hatched_and_counted(
    audio: AudioPanel, run: FakeRun
) -> None:
    begun(run, 4)
    run.decode(nan=True)
    run.decode()
    view = opened(audio, run)
    go_to(audio, FIRST)
    image, nan = view.grab().toImage(), current_palette().nan
    first = 4 * FRAME_SAMPLES
    assert has_color(image, between(view, first, first + FRAME_SAMPLES), nan)
    assert not has_color(image, between(view, 0, first - 200), nan)
    assert not has_color(image, between(view, first + FRAME_SAMPLES + 200, 6 * FRAME_SAMPLES), nan)
    assert trouble(audio) == "1,920 samples are NaN"
    assert point_words(view.scene, QPointF(place(view, middle(6)))).endswith("\nNaN")


@pytest.mark.parametrize("bad", [1, 3])
def test_a_few_samples_that_are_no_numbers_are_seen_in_ten_seconds(
    audio: AudioPanel, run: FakeRun, bad: int
) -> None:
    samples = np.zeros(10 * SAMPLE_RATE, np.float32)
    samples[123_456 : 123_456 + bad] = np.nan
    begun(run)
    speak(run, samples)
    view = opened(audio, run)
    go_to(audio, 0)
    x = place(view, 123_456).x()
    wave = view.scene.layout.wave.toAlignedRect()
    column = QRect(x - 2, wave.top(), 5, wave.height())
    assert has_color(view.grab().toImage(), column, current_palette().nan)


def test_clipping_is_marked_and_counted(audio: AudioPanel, run: FakeRun) -> None:
    begun(run, 2)
    loud = np.zeros(FRAME_SAMPLES, np.float32)
    loud[900:903] = 1.0, -1.5, np.inf
    speak(run, loud)
    view = opened(audio, run)
    go_to(audio, FIRST)
    wave, error = view.scene.layout.wave.toAlignedRect(), current_palette().error
    x = place(view, 2 * FRAME_SAMPLES + 901).x()
    for top in (wave.top(), wave.bottom() - 3):
        assert has_color(view.grab().toImage(), QRect(x - 2, top, 5, 4), error)
    assert not has_color(view.grab().toImage(), between(view, 0, 2 * FRAME_SAMPLES), error)
    assert trouble(audio) == "3 samples clipped"


def test_a_healthy_sound_has_no_trouble_to_tell(audio: AudioPanel, run: FakeRun) -> None:
    run.run(4)
    opened(audio, run)
    assert trouble(audio) == ""


def test_chunks_are_told_apart(audio: AudioPanel, run: FakeRun) -> None:
    begun(run, 3)
    run.begin_chunk("Second.", continues=0)
    run.prefill()
    run.decode()
    view = opened(audio, run)
    assert audio.track.chunk_starts == [(0, 0), (3 * FRAME_SAMPLES, 1)]
    x = place(view, 3 * FRAME_SAMPLES).x()
    go_to(audio, FIRST)
    wave = view.scene.layout.wave.toAlignedRect()
    column = QRect(x - 1, wave.top(), 3, wave.height())
    assert has_color(view.grab().toImage(), column, current_palette().muted_text)


def test_the_spectrogram_shows_where_the_energy_is(audio: AudioPanel, run: FakeRun) -> None:
    """`FakeRun` says a tone of 220 Hz."""
    run.run(8)
    view = opened(audio, run)
    go_to(audio, 0)
    levels = view.scene.layout.levels
    image, x = view.grab().toImage(), round(levels.center().x()) + 7
    low = image.pixelColor(x, round(levels.bottom()) - 2).lightness()
    high = image.pixelColor(x, round(levels.top()) + 3).lightness()
    assert high - low > 100
    said = point_words(view.scene, QPointF(x, levels.top() + 1))
    assert "11." in said.split("\n")[1]
    assert "kHz: " in said


def test_the_spectrogram_can_be_left_out_which_is_remembered(
    qtbot: QtBot, audio: AudioPanel, run: FakeRun
) -> None:
    run.run(3)
    view = opened(audio, run)
    before = view.scene.layout.wave.height()
    press(audio, "levels")
    assert view.scene.layout.levels.height() == 0
    assert view.scene.layout.wave.height() > before
    other = AudioPanel(audio.workspace, player=StandInPlayer())
    qtbot.addWidget(other)
    assert not other.bar.wants_levels


def test_a_point_says_time_sample_frame_and_level(audio: AudioPanel, run: FakeRun) -> None:
    run.run(4)
    view = opened(audio, run)
    view.zoom(1_000, view.scene.x_of_sample(3_000.5))
    point = place(view, 3_000.5)
    level = float(audio.track.samples[3_000])
    where, what = point_words(view.scene, QPointF(point)).split("\n")
    assert where == "0.1250 s (sample 3,000), frame 3"
    assert what.replace("\N{MINUS SIGN}", "-").startswith(f"level {level:.4f}, ")
    assert point_words(view.scene, QPointF(3, 60)) == "", "in the margin"


def test_it_grows_frame_by_frame_as_if_read_at_once(
    qtbot: QtBot, audio: AudioPanel, run: FakeRun, tmp_path: Path
) -> None:
    view = opened(audio, begun(run))
    for step in range(30):
        run.decode(nan=step == 11)
        grow(audio)
    run.writer.finish("finished")
    audio.workspace.refresh()
    qtbot.waitUntil(lambda: view.scene.axis.total == pytest.approx(2.4))
    recording = audio.workspace.recording
    assert recording is not None
    np.testing.assert_array_equal(audio.track.samples, recording.audio())
    other = AudioPanel(audio.workspace, player=StandInPlayer())
    qtbot.addWidget(other)
    other.resize(*SIZE)
    other.show()
    other.refresh_now()
    qtbot.waitUntil(lambda: view.grab().toImage() == other.view.grab().toImage())


def test_what_is_seen_stays_in_place_while_there_is_room(audio: AudioPanel, run: FakeRun) -> None:
    view = opened(audio, begun(run, 2))
    before = view.scene.x_of_sample(FRAME_SAMPLES)
    run.decode()
    grow(audio)
    assert view.scene.x_of_sample(FRAME_SAMPLES) == before
    assert view.scene.x_of_sample(3 * FRAME_SAMPLES) < view.scene.layout.wave.right()


def test_a_hidden_panel_does_nothing_until_it_is_shown(audio: AudioPanel, run: FakeRun) -> None:
    opened(audio, begun(run, 2))
    audio.hide()
    run.decode()
    grow(audio)
    assert len(audio.track) == 2 * FRAME_SAMPLES
    audio.show()
    assert len(audio.track) == 3 * FRAME_SAMPLES


def test_another_recording_replaces_the_sound(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun, tmp_path: Path
) -> None:
    run.run(8)
    view = opened(audio, run)
    drag(view, place(view, middle(3)), place(view, middle(6)))
    press(audio, "play")
    other = FakeRun(tmp_path / "other.kvrec", layers=1)
    other.run(3)
    opened(audio, other)
    assert not player.playing
    assert view.selection is None
    assert len(audio.track) == 3 * FRAME_SAMPLES
    press(audio, "play")
    assert player.length == 3 * FRAME_SAMPLES


def test_damaged_samples_are_told(audio: AudioPanel, run: FakeRun) -> None:
    run.run(3)
    with closing(sqlite3.connect(run.path)) as file:
        file.execute("UPDATE audio SET samples = x'000000' WHERE frame = 3")
        file.commit()
    opened(audio, run)
    assert "is damaged" in audio.stage.sentence
