"""The demo model says the same on every release of pocket-tts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from tests import kept
from tests.cli.conftest import Kvstudio

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TEXT = "Hello world. I am a tiny voice."


@pytest.mark.parametrize("number", kept.RELEASES)
def test_release(
    release: Callable[[str], kept.Release],
    kvstudio_command: Kvstudio,
    tmp_path: Path,
    number: str,
) -> None:
    def spoken(name: str, *engine: str) -> npt.NDArray[np.float32]:
        run, wav = tmp_path / f"{name}.kvrec", tmp_path / f"{name}.wav"
        demo = ("--demo", "--voice", "high", "--text", TEXT)
        told = kvstudio_command("record", *demo, "--out", run, "--wav", wav, *engine)
        assert told.code == 0, told.err
        assert "ended by EOS" in told.out + told.err
        assert "clean: " in told.out + told.err
        audio: npt.NDArray[np.float32] = soundfile.read(wav, dtype="float32")[0]
        return audio

    theirs = spoken("theirs", "--python", str(release(number).python))
    ours = spoken("ours")
    assert len(theirs) == len(ours)
    assert np.corrcoef(theirs, ours)[0, 1] > 0.99
