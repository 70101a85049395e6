"""What a chunk begins with: marker and voice."""

from dataclasses import replace
from pathlib import Path

import pytest

from kvstudio.analysis.checks.prefix import PrefixCheck
from kvstudio.recording.evidence import Prefix
from tests.analysis.checks.evidence import begun, ended
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FakeRun

HEALTHY = Prefix(chunk=0, marker_wanted=True, marker_slot=0, foreign_slots=0, voice_slots=5)


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec"), steps=0)


@pytest.mark.parametrize(
    "prefix",
    [
        HEALTHY,
        replace(HEALTHY, marker_wanted=False, marker_slot=None),
        replace(HEALTHY, foreign_slots=None),
    ],
)
def test_a_healthy_prefix(run: FakeRun, prefix: Prefix) -> None:
    run.writer.add_prefix(prefix)
    ended(run)
    assert findings_of(PrefixCheck, run.path) == []


def test_a_marker_that_was_left_out(run: FakeRun) -> None:
    run.writer.add_prefix(replace(HEALTHY, marker_slot=None))
    ended(run)
    (found,) = findings_of(PrefixCheck, run.path)
    assert (found.kind, found.frame, found.phase) == ("marker-missing", 0, "voice")
    assert (found.slots, found.count) == ((0, 1), 1)
    assert "is not among the 5 slots that chunk 0 begins with" in found.message
    assert texts(found)[0] == "no slot of the voice is the learned marker"


def test_a_marker_in_the_wrong_place(run: FakeRun) -> None:
    run.writer.add_prefix(replace(HEALTHY, marker_slot=4))
    ended(run)
    (found,) = findings_of(PrefixCheck, run.path)
    assert (found.kind, found.slots) == ("prefix-order", (4, 5))
    assert found.message.startswith("The learned marker lies in slot 4, but belongs in slot 0")


def test_the_voice_of_another_model_has_no_marker_to_miss(run: FakeRun) -> None:
    run.writer.add_prefix(replace(HEALTHY, marker_slot=None, foreign_slots=3))
    ended(run)
    (found,) = findings_of(PrefixCheck, run.path)
    assert (found.kind, found.slots) == ("foreign-state", (0, 5))
    assert found.message.startswith(
        "3 of the 5 slots that chunk 0 begins with cannot have been made"
    )


def test_chunks_that_begin_with_the_same_voice_are_counted(run: FakeRun) -> None:
    run.writer.add_prefix(replace(HEALTHY, marker_slot=None))
    run.decode()
    run.begin_chunk("And more.")
    run.writer.add_prefix(replace(HEALTHY, chunk=1, marker_slot=None))
    run.prefill()
    ended(run)
    (found,) = findings_of(PrefixCheck, run.path)
    assert (found.frame, found.count) == (0, 2)
