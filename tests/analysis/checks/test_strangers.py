"""K and V that the layer's own weights cannot have made."""

from dataclasses import replace
from pathlib import Path

import pytest

from kvstudio.analysis.checks.strangers import StrangersCheck
from kvstudio.recording.evidence import Found, Surprise
from tests.analysis.checks.evidence import begun, ended, healthy
from tests.analysis.checks.running import findings_of
from tests.fakes import FakeRun


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec", layers=3))


def stranger(run: FakeRun, layer: int, found: Found) -> Surprise:
    return Surprise("flow_lm", run.flow[layer].name, "cache", found, 13, 14)


@pytest.mark.parametrize(
    ("found", "kind", "words"),
    [
        ("swapped", "position-mismatch", "keys lie where values belong"),
        ("rotated", "position-mismatch", "turned to another position"),
        ("rounded", "dtype-mismatch", "rounded to a few values"),
        ("foreign", "foreign-state", "cannot have made these K and V"),
    ],
)
def test_each_look_has_its_kind(run: FakeRun, found: Found, kind: str, words: str) -> None:
    run.evidence = {
        "attentions": [healthy(n, 13) for n in range(3)],
        "surprises": [stranger(run, n, found) for n in (1, 2)],
    }
    ended(run)
    (finding,) = findings_of(StrangersCheck, run.path)
    assert (finding.kind, finding.caches, finding.slots) == (kind, (1, 2), (13, 14))
    assert words in finding.message
    assert finding.chain[0].slot == 13


def test_a_rotation_that_the_position_explains_is_told_there(run: FakeRun) -> None:
    run.evidence = {
        "attentions": [replace(healthy(1, 13), rope=0)],
        "surprises": [stranger(run, 1, "rotated")],
    }
    ended(run)
    assert findings_of(StrangersCheck, run.path) == []


def test_state_that_changed_between_steps_is_not_meant(run: FakeRun) -> None:
    run.evidence = {"surprises": [stranger(run, 1, "changed")]}
    ended(run)
    assert findings_of(StrangersCheck, run.path) == []


def test_what_somebody_outside_wrote_was_written_by_no_step(run: FakeRun) -> None:
    run.evidence = {"surprises": [stranger(run, 1, "changed"), stranger(run, 1, "rotated")]}
    ended(run)
    assert findings_of(StrangersCheck, run.path) == []
