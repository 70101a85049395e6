"""The sound as a WAV file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import soundfile

from kvstudio.app.settings import Settings
from kvstudio.app.sound.export import NAME_FILTERS
from tests.app.panels.audio_bench import begun, opened, speak, trouble, words
from tests.fakes import FRAME_SAMPLES, SAMPLE_RATE, FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.app.panels.audio import AudioPanel


def test_a_16_bit_wav_is_written(audio: AudioPanel, run: FakeRun, tmp_path: Path) -> None:
    run.run(4)
    opened(audio, run)
    path = tmp_path / "out.wav"
    said = audio.export_wav(path)
    samples, rate = soundfile.read(path, dtype="float32")
    assert (rate, soundfile.info(path).subtype) == (SAMPLE_RATE, "PCM_16")
    np.testing.assert_allclose(samples, audio.track.samples, atol=1 / 32_768)
    assert said == words(audio) == f"0.32 s of audio written to {path}."


def test_16_bits_cannot_hold_nan_and_say_so(
    audio: AudioPanel, run: FakeRun, tmp_path: Path
) -> None:
    begun(run, 2)
    run.decode(nan=True)
    speak(run, np.array([0.5, 1.5, -np.inf], np.float32))
    opened(audio, run)
    said = audio.export_wav(tmp_path / "out.wav")
    samples, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert not samples[2 * FRAME_SAMPLES : 3 * FRAME_SAMPLES].any()
    np.testing.assert_allclose(samples[-3:], [0.5, 1.0, -1.0], atol=1e-4)
    assert "1,920 samples were NaN and became silence; a float WAV keeps them." in said
    assert "2 samples beyond full scale were cut." in said


def test_a_float_wav_keeps_every_bit(audio: AudioPanel, run: FakeRun, tmp_path: Path) -> None:
    begun(run, 2)
    run.decode(nan=True)
    speak(run, np.array([0.5, 1.5, -np.inf], np.float32))
    opened(audio, run)
    said = audio.export_wav(tmp_path / "out.wav", "float")
    samples, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    np.testing.assert_array_equal(samples, audio.track.samples)
    assert "NaN" not in said


@pytest.mark.parametrize(("kind", "subtype"), [("16-bit", "PCM_16"), ("float", "FLOAT")])
def test_the_dialog_offers_both_kinds(
    audio: AudioPanel, run: FakeRun, tmp_path: Path, kind: str, subtype: str
) -> None:
    run.run(2)
    opened(audio, run)
    dialog = audio.ask_export()
    assert dialog.nameFilters() == list(NAME_FILTERS.values())
    dialog.selectNameFilter(dict(NAME_FILTERS)[kind])  # type: ignore[index]
    dialog.fileSelected.emit(str(tmp_path / "out.wav"))
    dialog.reject()
    assert soundfile.info(tmp_path / "out.wav").subtype == subtype
    assert words(audio).startswith("0.16 s of audio written to ")
    assert Settings().folder == str(tmp_path)


def test_what_cannot_be_written_is_told_and_leaves_nothing(
    audio: AudioPanel, run: FakeRun, tmp_path: Path
) -> None:
    run.run(2)
    opened(audio, run)
    target = tmp_path / "missing" / "out.wav"
    audio.export.write(target, "16-bit")
    assert trouble(audio) == (
        f"The audio could not be written to {target}: no such file or directory."
    )
    folder = tmp_path / "folder.wav"
    folder.mkdir()
    with pytest.raises(OSError, match="is a directory"):
        audio.export_wav(folder)
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_nothing_to_export_is_told(audio: AudioPanel, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="there are no samples yet"):
        audio.export_wav(tmp_path / "out.wav")
    assert not (tmp_path / "out.wav").exists()
