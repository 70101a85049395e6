"""Silence, clicks and clipping."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kvstudio.analysis.checks.sound import ClickCheck, ClippingCheck, SilenceCheck
from kvstudio.recording.rows import Floats
from tests.analysis.checks.running import findings_of
from tests.fakes import FRAME_SAMPLES, SAMPLE_RATE, FakeRun

CHECKS = (SilenceCheck, ClickCheck, ClippingCheck)


def spoken(path: Path, sound: Sequence[Floats | None]) -> Path:
    """A finished run of one decode step for each piece of sound."""
    run = FakeRun(path)
    run.begin_chunk()
    run.prefill()
    add, left = run._add, list(sound)
    run._add = lambda *a, audio=None, **k: add(*a, audio=left.pop(0), **k)  # type: ignore[method-assign]
    for _ in sound:
        run.decode()
    run._add = add  # type: ignore[method-assign]
    run.writer.finish("finished", "EOS")
    return path


def tone(frames: int, level: float = 0.3) -> list[Floats]:
    # A whole number of periods a frame, so that a pause may follow any of them.
    times = np.arange(frames * FRAME_SAMPLES) / SAMPLE_RATE
    wave = (level * np.sin(2 * np.pi * 225 * times)).astype(np.float32)
    return list(wave.reshape(frames, FRAME_SAMPLES))


def noise(frames: int, level: float) -> list[Floats]:
    random = np.random.default_rng(3)
    wave = (level * random.standard_normal(frames * FRAME_SAMPLES)).astype(np.float32)
    return list(wave.reshape(frames, FRAME_SAMPLES))


def silent(frames: int) -> list[Floats]:
    return [np.zeros(FRAME_SAMPLES, np.float32)] * frames


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "sound",
    [
        tone(8),
        noise(8, 0.2),
        noise(8, 0.01),
        [*tone(3), *silent(4), *tone(3)],  # a pause, digitally silent
        [*noise(3, 0.2), *tone(3, 0.001), *noise(3, 0.2)],
        [*tone(3), None],
        [np.full(FRAME_SAMPLES, np.nan, np.float32)] * 6,
    ],
    ids=["tone", "noise", "faint noise", "pause", "quiet passage", "undecoded", "NaN"],
)
def test_healthy_sound(tmp_path: Path, check: type, sound: list[Floats | None]) -> None:
    assert findings_of(check, spoken(tmp_path / "run.kvrec", sound)) == []


def test_frames_in_a_row_without_a_sound(tmp_path: Path) -> None:
    path = spoken(tmp_path / "run.kvrec", [*tone(3), *silent(6), *tone(2)])
    (found,) = findings_of(SilenceCheck, path)
    assert (found.kind, found.severity, found.frame) == ("audio-silence", "warning", 5)
    assert found.message.startswith(
        "5 frames in a row are silent, from second 0.24 (frame 5 (decode step 3)) on: "
    )
    assert found.chain[0].second == pytest.approx(0.24)


def test_a_chunk_without_a_sound(tmp_path: Path) -> None:
    path = spoken(tmp_path / "run.kvrec", noise(4, 5e-5))
    (found,) = findings_of(SilenceCheck, path)
    assert (found.frame, found.message[:23]) == (2, "All of chunk 0 is silen")


def test_a_jump_where_two_frames_join(tmp_path: Path) -> None:
    sound = [*tone(3), *(piece + np.float32(0.25) for piece in tone(3))]
    path = spoken(tmp_path / "run.kvrec", sound)
    (found,) = findings_of(ClickCheck, path)
    assert (found.kind, found.frame, found.count) == ("audio-click", 5, 1)
    assert "where frame 5 (decode step 3) begins, at second 0.24" in found.message


def test_frames_of_different_chunks_do_not_join(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    for level in (0.0, 0.4):
        run.begin_chunk()
        run.prefill()
        add = run._add
        sound = np.full(FRAME_SAMPLES, level, np.float32)
        run._add = lambda *a, audio, **k: add(*a, audio=sound, **k)  # type: ignore[method-assign]  # noqa: B023
        run.decode()
        run._add = add  # type: ignore[method-assign]
    run.writer.finish("finished", "EOS")
    assert findings_of(ClickCheck, run.path) == []


def test_a_few_samples_over_full_scale_are_no_clipping(tmp_path: Path) -> None:
    sound = tone(4)
    sound[1] = sound[1].copy()
    sound[1][100:120] = 1.2
    assert findings_of(ClippingCheck, spoken(tmp_path / "run.kvrec", sound)) == []


def test_many_samples_over_full_scale(tmp_path: Path) -> None:
    path = spoken(tmp_path / "run.kvrec", [*tone(2), *tone(2, 1.5)])
    (found,) = findings_of(ClippingCheck, path)
    assert (found.kind, found.severity, found.frame) == ("audio-clipped", "warning", 4)
    assert found.count > 1000
    assert "samples go beyond full scale, to 1.50, from second 0.16" in found.message
