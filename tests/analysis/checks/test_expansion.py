"""Expansions that did not do what they are there for."""

from pathlib import Path

import numpy as np
import pytest

from kvstudio.analysis.checks.expansion import ExpansionCheck
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FakeRun
from tests.recording.reading import tamper


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.kvrec"
    FakeRun(path, layers=4).run(3)
    return path


def test_a_healthy_expansion(path: Path) -> None:
    assert findings_of(ExpansionCheck, path) == []


@pytest.mark.parametrize(
    ("change", "slot", "says"),
    [
        ("capacity_after = 20", 20, "shape grew failed at slot 20 (5 to 20, but 23 were"),
        ("not_nan_slot = 9, fill = 'zero'", 9, "new slots NaN failed at slot 9 (slot is not NaN:"),
        ("changed_slot = 2", 2, "old values kept failed at slot 2 (slot changed)"),
    ],
)
def test_a_failed_check_is_a_finding(path: Path, change: str, slot: int, says: str) -> None:
    tamper(path, f"UPDATE expansion SET {change} WHERE cache > 0")
    if change.startswith("capacity"):
        tamper(path, "UPDATE cache_state SET capacity = 20 WHERE cache > 0")
    (found,) = findings_of(ExpansionCheck, path)
    assert (found.kind, found.frame, found.phase) == ("expansion-corrupt", 1, "text")
    assert (found.layer, found.slots, found.count) == (1, (slot, slot + 1), 3)
    assert found.message.startswith("Layers 1 to 3: the expansion of the cache for chunk 0 is")
    assert says in found.message
    assert texts(found)[1:3] == [
        "_expand_kv_cache was asked for 23 slots",
        "capacity went from 5 to 23",
    ]


def test_a_cache_that_is_made_larger_by_the_step_that_needs_it(path: Path) -> None:
    tamper(path, "UPDATE expansion SET capacity_after = capacity_before")
    assert findings_of(ExpansionCheck, path) == []


def test_each_failed_check_is_a_finding_of_its_own(path: Path) -> None:
    tamper(path, "UPDATE expansion SET changed_slot = 0, not_nan_slot = 9 WHERE cache = 0")
    assert len(findings_of(ExpansionCheck, path)) == 2


def test_nan_that_was_there_before_is_not_its_doing(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.base[0][:, :, 2] = np.nan
    run.run(2)
    assert findings_of(ExpansionCheck, run.path) == []
