"""Whatever keeps a player from being heard is said in words and breaks nothing."""

import math
from pathlib import Path

import numpy as np
import pytest
from PySide6 import QtMultimedia
from pytestqt.qtbot import QtBot

from kvstudio.app.player import NOTHING_TO_PLAY, Player
from kvstudio.app.sound_stream import NO_DEVICE, amplitude
from tests.app.hearing import FRAME, RATE, names, said, speech
from tests.app.pulse import SoundServer, on_cue, perform, soundless_environment

pytest_plugins = ["tests.app.sound_fixtures"]


def test_a_device_that_is_unplugged_gives_words(own_server: SoundServer, tmp_path: Path) -> None:
    cue = tmp_path / "cue"
    with on_cue(cue, own_server.unplug):
        events = perform(
            own_server.environment,
            tmp_path,
            ("patience", 500),
            ("load", speech(100), RATE),
            ("play",),
            ("play_until_position", FRAME),
            ("cue", str(cue)),
            ("wait_for_failure",),
            ("ask",),
        )
    assert names(events) == ["started", "failed", "asked"]
    assert "Null Output does not play" in said(events, "failed")[0]["with"]
    assert not said(events, "failed")[0]["playing"]


def test_after_a_sound_server_died_and_came_back_playing_works(
    own_server: SoundServer, tmp_path: Path
) -> None:
    cue, clip = tmp_path / "cue", speech(4)

    with on_cue(cue, own_server.restart):
        events = perform(
            own_server.environment,
            tmp_path,
            ("patience", 500),
            ("load", np.tile(clip, 25), RATE),
            ("play",),
            ("play_until_position", FRAME),
            ("cue", str(cue)),
            ("wait_for_failure",),
            ("load", clip, RATE),
            ("wait", 3_500),  # Qt looks for the server again after 3 seconds
            ("play",),
            ("play_to_the_end",),
        )
    assert names(events) == ["started", "failed", "started", "finished"]


@pytest.mark.parametrize("ending", [(), (("delete_player",),)], ids=["exit", "deleted"])
def test_ending_while_it_plays_is_clean(
    server: SoundServer, tmp_path: Path, ending: tuple[tuple[str], ...]
) -> None:
    """`perform` fails if the process crashes or raises."""
    steps = [("load", speech(50), RATE), ("play",), ("play_until_position", FRAME), *ending]
    assert "started" in names(perform(server.environment, tmp_path, *steps))


def test_without_a_device_there_are_words_and_no_sound(tmp_path: Path) -> None:
    events = perform(
        soundless_environment(tmp_path),
        tmp_path,
        ("ask",),
        ("load", speech(2), RATE),
        ("play",),
        ("follow",),
        ("append", speech(1)),
        ("append", speech(1)),
        ("pause",),
        ("resume",),
        ("volume", 0.3),
        ("stop",),
        ("ask",),
    )
    assert names(events) == ["asked", "failed", "failed", "asked"], "told once per wish to hear"
    assert {event["with"] for event in events} == {NO_DEVICE}
    assert not any(event["playing"] for event in events)


def test_without_the_sound_library_there_are_words_and_no_sound(tmp_path: Path) -> None:
    events = perform(
        soundless_environment(tmp_path),
        tmp_path,
        ("without_library",),
        ("ask",),
        ("load", speech(2), RATE),
        ("play",),
    )
    assert names(events) == ["asked", "failed"]
    assert all("Qt's sound library cannot be loaded" in event["with"] for event in events)


@pytest.mark.parametrize(
    ("clip", "first", "last"),
    [(None, 0, None), (0, 0, None), (1, FRAME, None), (1, 5, 5), (1, 0, 0)],
    ids=["no clip", "an empty clip", "from its end", "an empty range", "up to its start"],
)
def test_nothing_to_play_is_said(
    qtbot: QtBot, clip: int | None, first: int, last: int | None
) -> None:
    player = Player()
    if clip is not None:
        player.load(speech(clip), RATE)
    with qtbot.waitSignal(player.failed) as failed:
        player.play(first, last)
    assert failed.args == [NOTHING_TO_PLAY]
    assert not player.playing


def test_a_clip_must_be_loaded_before_it_can_grow() -> None:
    with pytest.raises(ValueError, match="load a clip"):
        Player().append(speech(1))


def test_the_length_is_that_of_the_clip_so_far() -> None:
    player = Player()
    lengths = [player.length]
    player.load(speech(2), RATE)
    lengths.append(player.length)
    player.append(speech(1))
    lengths.append(player.length)
    assert lengths == [0, 2 * FRAME, 3 * FRAME]


@pytest.mark.parametrize("volume", [0.0, 0.1, 0.5, 0.9, 0.995, 1.0])
def test_volume_follows_the_curve_of_qt(volume: float) -> None:
    audio = getattr(QtMultimedia, "QtAudio", QtMultimedia.QAudio)  # depends on the release
    scale = audio.VolumeScale
    expected = audio.convertVolume(volume, scale.LogarithmicVolumeScale, scale.LinearVolumeScale)
    assert math.isclose(amplitude(volume), expected, abs_tol=1e-6)
