"""What is played of a run's sound, by button and key; a stand-in tells what was asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtTest import QTest

from kvstudio.app.panels.audio import AudioPanel
from kvstudio.app.settings import Settings
from kvstudio.app.sound_stream import NO_DEVICE
from tests.app.panels.audio_bench import (
    begun,
    click,
    drag,
    go_to,
    grow,
    middle,
    opened,
    place,
    press,
    words,
)
from tests.app.panels.stand_in_player import StandInPlayer
from tests.fakes import FRAME_SAMPLES, SAMPLE_RATE, FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from kvstudio.app.sound.sound_view import SoundView


def test_space_plays_pauses_and_goes_on(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(8)
    view = opened(audio, run)
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert player.played == [(0, None, False)]
    assert audio.bar.buttons["play"].text() == "Pause"
    player.hear(4_000)
    assert words(audio) == "0.17 s, frame 4"
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert (player.playing, player.paused) == (True, True)
    assert audio.bar.buttons["play"].text() == "Play"
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert (player.playing, player.paused) == (True, False)
    assert len(player.played) == 1


def test_playing_begins_where_the_user_clicked(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(8)
    view = opened(audio, run)
    click(view, middle(5))
    assert view.overlay.playhead == 3 * FRAME_SAMPLES
    press(audio, "play")
    press(audio, "stop")
    assert not player.playing
    press(audio, "stop")
    press(audio, "play")
    assert player.played == [(3 * FRAME_SAMPLES, None, False), (0, None, False)]


def test_the_frame_and_the_selection_can_be_played(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(8)
    view = opened(audio, run)
    go_to(audio, 4)
    QTest.keyClick(view, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    press(audio, "frame")
    frame = (2 * FRAME_SAMPLES, 3 * FRAME_SAMPLES, False)
    assert player.played == [frame, frame]
    drag(view, place(view, FRAME_SAMPLES), place(view, 5 * FRAME_SAMPLES))
    player.stop()
    press(audio, "play")
    assert player.played[-1] == (FRAME_SAMPLES, 5 * FRAME_SAMPLES, False)


def test_a_frame_without_samples_is_explained(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(8)
    opened(audio, run)
    go_to(audio, 0)
    press(audio, "frame")
    assert player.played == []
    assert words(audio) == "This frame has no samples of its own to play."


def test_l_loops_the_selection_or_the_frame_until_pressed_again(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(8)
    view = opened(audio, run)
    go_to(audio, 3)
    QTest.keyClick(view, Qt.Key.Key_L)
    assert player.played == [(FRAME_SAMPLES, 2 * FRAME_SAMPLES, True)]
    assert audio.bar.buttons["loop"].isChecked()
    press(audio, "loop")
    assert not player.playing
    assert not audio.bar.buttons["loop"].isChecked()
    drag(view, place(view, 0), place(view, 4 * FRAME_SAMPLES))
    press(audio, "loop")
    assert player.played[-1] == (0, 4 * FRAME_SAMPLES, True)
    press(audio, "stop")
    assert not audio.bar.buttons["loop"].isChecked()


class Repaints(QObject):
    """How many pixels of a widget each repaint covers."""

    def __init__(self, view: SoundView) -> None:
        super().__init__(view)
        self.pixels: list[int] = []
        self.new = False
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.new = True
            self.pixels.append(sum(r.width() * r.height() for r in event.region()))  # type: ignore[attr-defined]
        return False


def test_a_moving_playhead_repaints_only_where_it_is(
    qtbot: QtBot, audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(8)
    view = opened(audio, run)
    press(audio, "play")
    qtbot.waitExposed(audio)
    QTest.qWait(30)
    repaints = Repaints(view)
    for sample in (700, 1_400, 2_100):
        repaints.new = False
        player.hear(sample)
        qtbot.waitUntil(lambda: repaints.new)
        assert view.overlay.playhead == sample
    assert max(repaints.pixels) < view.width() * view.height() / 10


def test_the_picture_follows_the_playhead(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(30)
    view = opened(audio, run)
    view.zoom(8, view.scene.layout.wave.left())
    press(audio, "play")
    player.hear(40_000)
    axis = view.scene.axis
    assert axis.first < 40_000 / SAMPLE_RATE < axis.last


def test_each_frame_is_played_as_it_is_stepped_even_while_hidden(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    opened(audio, begun(run, 2))
    press(audio, "each")
    assert player.played == [], "what is there already is not"
    for hidden in (False, True):
        audio.setHidden(hidden)
        run.decode()
        grow(audio)
        start = (3 if hidden else 2) * FRAME_SAMPLES
        assert player.played[-1] == (start, None, False)
        player.hear(player.length)
        player.stop()
    audio.show()
    press(audio, "each")
    run.decode()
    grow(audio)
    assert len(player.played) == 2


def test_a_new_run_is_played_from_its_first_frame_but_an_old_one_is_not(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun, tmp_path: Path
) -> None:
    opened(audio, begun(run))
    press(audio, "each")
    old = FakeRun(tmp_path / "old.kvrec", layers=1)
    old.run(3)
    opened(audio, old)
    assert player.played == []
    new = begun(FakeRun(tmp_path / "new.kvrec", layers=1))
    opened(audio, new)
    new.decode()
    grow(audio)
    assert player.played == [(0, None, False)]


def test_what_plays_to_the_end_plays_on_into_new_frames(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    opened(audio, begun(run, 2))
    press(audio, "play")
    audio.hide()
    run.decode()
    grow(audio)
    assert player.length == 3 * FRAME_SAMPLES


def test_volume_and_mute_are_remembered(
    qtbot: QtBot, audio: AudioPanel, player: StandInPlayer
) -> None:
    audio.bar.slider.setValue(30)
    assert player.volume == 0.3
    press(audio, "mute")
    assert player.volume == 0
    assert Settings().volume == 0.3
    quiet = StandInPlayer()
    other = AudioPanel(audio.workspace, player=quiet)
    qtbot.addWidget(other)
    assert quiet.volume == 0
    assert other.bar.slider.value() == 30
    other.bar.slider.setValue(60)
    assert quiet.volume == 0.6, "whoever moves it wants to hear"
    assert not other.bar.buttons["mute"].isChecked()


def test_without_a_device_it_says_so_and_tries_again(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    player.why = NO_DEVICE
    run.run(3)
    opened(audio, run)
    press(audio, "play")
    assert words(audio).startswith("frame 4: 0.16 s to 0.24 s of 0.24 s  ·  No sound: no sound dev")
    assert audio.bar.buttons["play"].isEnabled()
    assert audio.bar.buttons["play"].text() == "Play"
    player.why = ""
    press(audio, "play")
    assert player.played == [(0, None, False)]
    assert "No sound" not in words(audio)


def test_keys_of_the_panel_leave_its_focused_buttons_alone(
    audio: AudioPanel, player: StandInPlayer, run: FakeRun
) -> None:
    run.run(3)
    opened(audio, run)
    QTest.keyClick(audio.bar.buttons["levels"], Qt.Key.Key_Space)
    assert not audio.bar.wants_levels
    assert player.played == []
