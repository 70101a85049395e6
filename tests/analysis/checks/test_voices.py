"""Chunks that do not begin with the voice as it was made."""

from pathlib import Path

import numpy as np
import pytest

from kvstudio.analysis.checks.voices import VoiceCheck
from kvstudio.recording.spec import RunSpec
from tests.analysis.checks.evidence import begun, changed, ended
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
        tamper(run.path, takes(slots))
    return run.path


def takes(slots: int) -> str:
    return f"""INSERT OR REPLACE INTO meta VALUES ('voice', '{{"slots": {slots}}}')"""


def two_chunks(folder: Path, *, copies: bool = True, continues: bool = False) -> FakeRun:
    """The voice takes 5 slots; the second chunk is frames 4 on."""
    run = begun(FakeRun(folder / "run.kvrec", layers=3, spec=RunSpec(copy_state=copies)))
    run.begin_chunk("And more.", continues=0 if continues else None)
    run.prefill()
    return run


@pytest.mark.parametrize("slots", [None, 5])
def test_a_run_that_begins_where_the_voice_ends(tmp_path: Path, slots: int | None) -> None:
    assert findings_of(VoiceCheck, made(tmp_path, slots)) == []


def test_a_run_that_begins_inside_the_voice(tmp_path: Path) -> None:
    (found,) = findings_of(VoiceCheck, made(tmp_path, 8))
    assert (found.kind, found.frame, found.phase) == ("overwrite", 1, "text")
    assert (found.caches, found.slots) == ((0, 1, 2), (5, 8))
    assert "begins at offset 5 and writes over slots 5 to 7" in found.message


def test_a_run_that_goes_on_after_earlier_speech(tmp_path: Path) -> None:
    (found,) = findings_of(VoiceCheck, made(tmp_path, 3))
    assert (found.kind, found.frame, found.slots) == ("stale-read", 0, (3, 5))
    assert "slots 3 to 4 hold earlier speech" in found.message


def test_what_nobody_wrote_is_no_earlier_speech(tmp_path: Path) -> None:
    assert findings_of(VoiceCheck, made(tmp_path, 3, nan=3)) == []


@pytest.mark.parametrize("copies", [True, False])
def test_chunks_that_begin_with_the_same_voice(tmp_path: Path, copies: bool) -> None:
    run = ended(two_chunks(tmp_path, copies=copies))
    tamper(run.path, takes(5))
    assert findings_of(VoiceCheck, run.path) == []


def test_a_chunk_that_goes_on_though_the_voice_is_to_be_copied(tmp_path: Path) -> None:
    run = ended(two_chunks(tmp_path, continues=True))
    tamper(run.path, takes(5))
    (found,) = findings_of(VoiceCheck, run.path)
    assert (found.kind, found.frame, found.slots) == ("stale-read", 4, (5, 13))
    assert "copied only in part" in found.message


def test_a_chunk_that_goes_on_in_place_is_meant_to(tmp_path: Path) -> None:
    run = ended(two_chunks(tmp_path, copies=False, continues=True))
    tamper(run.path, takes(5))
    assert findings_of(VoiceCheck, run.path) == []


def test_a_voice_that_changed_between_two_chunks(tmp_path: Path) -> None:
    run = begun(FakeRun(tmp_path / "run.kvrec", layers=3))
    run.base[1] = run.base[1] + 1
    run.begin_chunk("And more.")
    run.prefill()
    ended(run)
    tamper(run.path, takes(5))
    (found,) = findings_of(VoiceCheck, run.path)
    assert (found.kind, found.frame, found.layer) == ("overwrite", 4, 1)
    assert found.slots == (0, 5)
    assert "chunk 1 begins with other K and V" in found.message


def test_what_is_seen_to_change_before_a_chunk_is_told_there(tmp_path: Path) -> None:
    run = begun(FakeRun(tmp_path / "run.kvrec", layers=3))
    run.base[1] = run.base[1] + 1
    run.begin_chunk("And more.")
    run.evidence = {"surprises": [changed(1, (0, 5))]}
    run.prefill()
    ended(run)
    tamper(run.path, takes(5))
    assert findings_of(VoiceCheck, run.path) == []
