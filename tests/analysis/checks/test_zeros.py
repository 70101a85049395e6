"""Slots of the voice that hold zeros."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.zeros import ZeroSlotsCheck
from kvstudio.recording.evidence import Prefix
from tests.analysis.checks.evidence import begun, changed, ended
from tests.analysis.checks.running import findings_of
from tests.fakes import FakeRun


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return FakeRun(tmp_path / "run.kvrec", layers=3)


def test_a_healthy_run_has_none(run: FakeRun) -> None:
    run.base[1][0, :, 2] = 0  # K alone
    run.base[1][:, :, 3, 0] = 0  # one head alone
    ended(begun(run))
    assert findings_of(ZeroSlotsCheck, run.path) == []


def test_a_reset_that_keeps_the_offset(run: FakeRun) -> None:
    for base in run.base.values():
        base[:] = 0
    ended(begun(run))
    (found,) = findings_of(ZeroSlotsCheck, run.path)
    assert (found.kind, found.frame, found.phase) == ("hole", 0, "voice")
    assert (found.caches, found.slots, found.count) == ((0, 1, 2), (0, 5), 15)
    assert found.message.startswith(
        "Layers 0 to 2: slots 0 to 4 of the voice state hold nothing but zeros"
    )


def test_a_few_slots_of_one_layer(run: FakeRun) -> None:
    run.base[1][:, :, [1, 2, 4]] = 0
    ended(begun(run))
    (found,) = findings_of(ZeroSlotsCheck, run.path)
    assert (found.layer, found.slots, found.count) == (1, (1, 3), 3)


def test_what_is_known_to_have_been_changed_is_an_overwrite(run: FakeRun) -> None:
    run.base[1][:, :, 2] = 0
    run.evidence = {"surprises": [changed(1, (2, 3))]}
    ended(begun(run))
    assert findings_of(ZeroSlotsCheck, run.path) == []


@pytest.mark.parametrize(("marker", "found"), [(None, 0), (0, 1)])
def test_a_missing_marker_is_not_also_a_hole(run: FakeRun, marker: int | None, found: int) -> None:
    for base in run.base.values():
        base[:, :, 0] = 0
    begun(run)
    run.writer.add_prefix(Prefix(0, True, marker, 0, 5))
    ended(run)
    assert len(findings_of(ZeroSlotsCheck, run.path)) == found
