"""A run that does not begin where the voice ends."""

from pathlib import Path

import numpy as np
import pytest

from kvstudio.analysis.checks.voice_length import VoiceLengthCheck
from tests.analysis.checks.evidence import begun, ended
from tests.analysis.checks.running import findings_of
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def made(folder: Path, slots: int | None, *, nan: int | None = None) -> Path:
    """A run that begins at offset 5 with a voice that took `slots`."""
    run = FakeRun(folder / "run.kvrec", layers=3)
    if nan is not None:
        for base in run.base.values():
            base[:, :, nan:] = np.nan
    ended(begun(run))
    if slots is not None:
        tamper(
            run.path, f"""INSERT OR REPLACE INTO meta VALUES ('voice', '{{"slots": {slots}}}')"""
        )
    return run.path


@pytest.mark.parametrize("slots", [None, 5])
def test_a_run_that_begins_where_the_voice_ends(tmp_path: Path, slots: int | None) -> None:
    assert findings_of(VoiceLengthCheck, made(tmp_path, slots)) == []


def test_a_run_that_begins_inside_the_voice(tmp_path: Path) -> None:
    (found,) = findings_of(VoiceLengthCheck, made(tmp_path, 8))
    assert (found.kind, found.frame, found.phase) == ("overwrite", 1, "text")
    assert (found.caches, found.slots) == ((0, 1, 2), (5, 8))
    assert "begins at offset 5 and writes over slots 5 to 7" in found.message


def test_a_run_that_goes_on_after_earlier_speech(tmp_path: Path) -> None:
    (found,) = findings_of(VoiceLengthCheck, made(tmp_path, 3))
    assert (found.kind, found.frame, found.slots) == ("stale-read", 0, (3, 5))
    assert "slots 3 to 4 hold earlier speech" in found.message


def test_what_nobody_wrote_is_no_earlier_speech(tmp_path: Path) -> None:
    assert findings_of(VoiceLengthCheck, made(tmp_path, 3, nan=3)) == []
