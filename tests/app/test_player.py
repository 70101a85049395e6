"""Playback is proven by listening: a private PulseAudio records what its null sink is fed."""

from pathlib import Path

import numpy as np
import pytest

from kvstudio.app.sound_stream import amplitude
from tests.app.hearing import (
    FRAME,
    RATE,
    Hear,
    Samples,
    find,
    longest_gap,
    names,
    said,
    sounding,
    speech,
)
from tests.app.pulse import SoundServer, in_real_time, perform, require_programs

pytest_plugins = ["tests.app.sound_fixtures"]


@in_real_time
def test_a_clip_is_heard_whole_and_nothing_else(hear: Hear) -> None:
    clip = speech(12)
    heard, events = hear(("load", clip, RATE), ("play",), ("play_to_the_end",))
    start, correlation = find(clip, heard)
    assert correlation > 0.99
    assert len(sounding(heard)) == len(clip)
    np.testing.assert_allclose(heard[start : start + len(clip)], clip, atol=1e-6)
    assert names(events) == ["started", "finished"]


@in_real_time
def test_the_position_goes_forward_to_the_end(hear: Hear) -> None:
    _, events = hear(("load", speech(6), RATE), ("play",), ("play_to_the_end",))
    positions = [event["with"] for event in said(events, "position_moved")]
    assert positions == sorted(positions)
    assert len(positions) > 5
    assert positions[-1] == 6 * FRAME == said(events, "finished")[0]["position"]


@pytest.mark.parametrize(("first", "last"), [(4, 5), (9, None)])
@in_real_time
def test_a_range_is_heard_and_nothing_else(hear: Hear, first: int, last: int | None) -> None:
    clip = speech(12)
    end = None if last is None else last * FRAME
    heard, _ = hear(("load", clip, RATE), ("play", first * FRAME, end), ("play_to_the_end",))
    np.testing.assert_allclose(sounding(heard), clip[first * FRAME : end], atol=1e-6)


@in_real_time
def test_a_loop_repeats_without_a_gap_until_it_is_stopped(hear: Hear) -> None:
    clip = speech(5)
    heard, events = hear(
        ("load", clip, RATE), ("play", FRAME, 3 * FRAME, True), ("wait", 900), ("stop",)
    )
    sound = sounding(heard)
    rounds = np.tile(clip[FRAME : 3 * FRAME], len(sound) // (2 * FRAME) + 1)
    assert len(sound) > 3 * 2 * FRAME
    assert longest_gap(heard) == 0
    np.testing.assert_allclose(sound, rounds[: len(sound)], atol=1e-6)
    positions = [event["with"] for event in said(events, "position_moved")[1:]]
    assert FRAME <= min(positions) <= max(positions) < 3 * FRAME


@in_real_time
def test_the_volume_changes_the_level_and_only_that(hear: Hear) -> None:
    clip = speech(10)
    heard, _ = hear(("load", clip, RATE), ("volume", 0.5), ("play",), ("play_to_the_end",))
    start, correlation = find(clip, heard)
    assert correlation > 0.99
    level = heard[start : start + len(clip)].std() / clip.std()
    assert level == pytest.approx(amplitude(0.5), rel=0.01)


@in_real_time
def test_the_volume_can_be_turned_down_to_nothing_while_playing(hear: Hear) -> None:
    clip = speech(15)
    heard, _ = hear(
        ("load", clip, RATE),
        ("play",),
        ("play_until_position", 5 * FRAME),
        ("volume", 0.0),
        ("play_to_the_end",),
    )
    sound = sounding(heard)
    assert 5 * FRAME < len(sound) < 15 * FRAME
    np.testing.assert_allclose(sound, clip[: len(sound)], atol=1e-6)


@in_real_time
def test_what_is_not_a_number_is_heard_as_silence(hear: Hear) -> None:
    clip = speech(6)
    for frame, bad in ((1, np.nan), (2, np.inf), (4, -np.inf)):
        clip[frame * FRAME : (frame + 1) * FRAME] = bad
    heard, _ = hear(("load", clip, RATE), ("play",), ("play_to_the_end",))
    expected = np.where(np.isfinite(clip), clip, np.float32(0))
    start, correlation = find(expected, heard)
    assert correlation > 0.99
    np.testing.assert_allclose(heard[start : start + len(clip)], expected, atol=1e-6)


@in_real_time
def test_what_is_too_loud_is_cut_at_full_scale(hear: Hear) -> None:
    clip = 10 * speech(4)
    heard, _ = hear(("load", clip, RATE), ("play",), ("play_to_the_end",))
    np.testing.assert_allclose(sounding(heard), np.clip(clip, -1, 1), atol=1e-6)


@in_real_time
def test_a_pause_is_silent_and_goes_on_where_it_stopped(hear: Hear) -> None:
    clip = speech(12)
    heard, events = hear(
        ("load", clip, RATE),
        ("play",),
        ("play_until_position", 4 * FRAME),
        ("pause",),
        ("ask",),
        ("wait", 500),
        ("resume",),
        ("play_to_the_end",),
    )
    assert longest_gap(heard) > 0.4 * RATE
    sound = np.flatnonzero(np.abs(heard) > 1e-4)
    before, after = (heard[at] for at in np.split(sound, [np.diff(sound).argmax() + 1]))
    np.testing.assert_allclose(before, clip[: len(before)], atol=1e-6)
    np.testing.assert_allclose(after, clip[-len(after) :], atol=1e-6)
    # PulseAudio takes back what it had mixed, and is a few milliseconds off either way.
    assert abs(len(before) + len(after) - len(clip)) < 0.02 * RATE
    asked = said(events, "asked")[0]
    assert asked["playing"]
    assert asked["paused"]
    assert not [event for event in said(events, "position_moved") if event["step"] == 5]


@in_real_time
def test_stop_is_heard_at_once(hear: Hear) -> None:
    clip = speech(40)
    heard, events = hear(
        ("load", clip, RATE), ("play",), ("play_until_position", 4 * FRAME), ("stop",)
    )
    sound = sounding(heard)
    assert len(sound) < 20 * FRAME
    np.testing.assert_allclose(sound, clip[: len(sound)], atol=1e-6)
    assert names(events) == ["started", "finished"]


@in_real_time
def test_frames_appended_in_time_are_heard_without_a_gap(hear: Hear) -> None:
    clip = speech(15)
    frames = [
        step
        for at in range(3 * FRAME, len(clip), FRAME)
        for step in (("append", clip[at : at + FRAME]), ("wait", 40))
    ]
    heard, events = hear(
        ("load", clip[: 3 * FRAME], RATE), ("play",), *frames, ("play_to_the_end",)
    )
    start, correlation = find(clip, heard)
    assert correlation > 0.99
    assert longest_gap(heard) == 0
    np.testing.assert_allclose(heard[start : start + len(clip)], clip, atol=1e-6)
    assert names(events) == ["started", "finished"]


@in_real_time
def test_following_plays_each_frame_as_it_is_stepped(hear: Hear) -> None:
    """Slower than speech: gaps between the frames, but every frame whole and in order."""
    clip = speech(5)
    frames = [
        step
        for at in range(0, len(clip), FRAME)
        for step in (("append", clip[at : at + FRAME]), ("wait", 250))
    ]
    heard, events = hear(("load", clip[:0], RATE), ("follow",), *frames, ("stop",))
    np.testing.assert_allclose(sounding(heard), clip, atol=1e-6)
    assert longest_gap(heard) > 0.05 * RATE
    assert names(events) == ["started", "finished"]


@in_real_time
def test_playing_again_replaces_what_plays(hear: Hear) -> None:
    clip = speech(40)
    heard, events = hear(
        ("load", clip, RATE),
        ("play",),
        ("play_until_position", 2 * FRAME),
        ("play", 36 * FRAME),
        ("play_to_the_end",),
    )
    np.testing.assert_allclose(sounding(heard)[-4 * FRAME :], clip[36 * FRAME :], atol=1e-6)
    assert len(sounding(heard)) < 30 * FRAME
    assert names(events) == ["started", "finished", "started", "finished"]


@in_real_time
def test_a_rate_the_device_does_not_take_is_converted(tmp_path: Path) -> None:
    """PulseAudio takes up to 384 kHz; beyond, its preferred form is used: here 16-bit stereo."""
    require_programs()
    server = SoundServer(tmp_path, sample_rate=44_100, channels=2, form="s16le")
    clip_rate, seconds = 400_000, 0.8

    def chirp(sample_rate: int) -> Samples:
        time = np.arange(round(seconds * sample_rate)) / sample_rate
        return (0.6 * np.sin(2 * np.pi * (200 + 900 * time) * time)).astype(np.float32)

    try:
        steps = [("load", chirp(clip_rate), clip_rate), ("play",), ("play_to_the_end",)]
        events = perform(server.environment, tmp_path, *steps)
        heard = server.heard()
    finally:
        server.close()
    assert names(events) == ["started", "finished"]
    assert said(events, "position_moved")[-1]["with"] == len(chirp(clip_rate))
    wanted = chirp(server.sample_rate)
    start, correlation = find(wanted, heard)
    assert correlation > 0.99
    assert np.abs(heard[start : start + len(wanted)]).max() == pytest.approx(0.6, abs=0.01)
    assert len(sounding(heard)) == pytest.approx(len(wanted), rel=0.01)
