"""The three checks of an expansion: grown, only new slots NaN, old values kept."""

from pathlib import Path

import numpy as np
import pytest

from kvstudio.analysis.integrity import CHECKS, IntegrityRow, failures, integrity
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import RunSpec
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def rows_of(path: Path) -> list[IntegrityRow]:
    with Recording.open(path) as recording:
        return integrity(recording)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "run.kvrec"
    FakeRun(path).run(4)
    return path


def test_a_healthy_expansion_passes_every_check_in_every_layer(whole: Path) -> None:
    rows = rows_of(whole)
    assert [(row.cache, row.check) for row in rows] == [(c, k) for c in (0, 1) for k in CHECKS]
    assert failures(rows) == []
    assert [row.words for row in rows[:3]] == ["5 to 23", "18 new, all NaN", "5 bit for bit"]
    assert {row.failed_slot for row in rows} == {None}


@pytest.mark.parametrize(
    ("statement", "check", "slot", "words"),
    [
        ("capacity_after = 20", "shape grew", 20, "5 to 20, but 23 were required"),
        ("not_nan_slot = 7, fill = 'zero'", "new slots NaN", 7,
         "slot is not NaN: new slots are filled with zeros"),
        ("not_nan_slot = 7, fill = 'other'", "new slots NaN", 7,
         "slot is not NaN: new slots hold numbers"),
        ("not_nan_slot = 7", "new slots NaN", 7, "slot is not NaN: it should be"),
        ("changed_slot = 2", "old values kept", 2, "slot changed"),
    ],
)  # fmt: skip
def test_a_failure_names_the_slot(
    whole: Path, statement: str, check: str, slot: int, words: str
) -> None:
    tamper(whole, f"UPDATE expansion SET {statement} WHERE cache = 1")
    (failed,) = failures(rows_of(whole))
    assert (failed.chunk, failed.cache, failed.check) == (0, 1, check)
    assert (failed.failed_slot, failed.words) == (slot, words)


@pytest.mark.parametrize(
    ("before", "after", "passed", "words"),
    [
        (30, 30, True, "no growth needed, 30 are enough"),
        (30, 24, False, "shrank from 30 to 24"),
    ],
)
def test_caches_that_are_long_enough(
    whole: Path, before: int, after: int, passed: bool, words: str
) -> None:
    tamper(
        whole,
        f"UPDATE expansion SET capacity_before = {before}, capacity_after = {after}, fill = 'none'",
    )
    shape, nan, _ = rows_of(whole)[:3]
    assert (shape.passed, shape.words) == (passed, words)
    assert (nan.passed, nan.words) == (True, "no new slots")


def test_an_old_slot_that_holds_nan_is_not_new(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.base[1][1, 0, 3, 0, 0] = np.nan
    run.run(2)
    (failed,) = failures(rows_of(run.path))
    assert (failed.cache, failed.check, failed.failed_slot) == (1, "new slots NaN", 3)
    assert failed.words == "old slot holds NaN, one of 1"


def goes_on(path: Path, *, nan: bool, spec: RunSpec | None = None) -> FakeRun:
    """Two chunks in one state; the last step of the first may have written NaN."""
    run = FakeRun(path, spec=spec)
    run.begin_chunk()
    run.prefill()
    run.decode(nan=nan)
    run.begin_chunk(continues=0)
    return run


@pytest.mark.parametrize("nan", [False, True])
def test_a_chunk_that_goes_on_begins_with_what_the_one_before_left(
    tmp_path: Path, nan: bool
) -> None:
    run = goes_on(tmp_path / "run.kvrec", nan=nan)
    run.prefill()
    run.writer.finish("finished")
    found = [(row.chunk, row.cache, row.failed_slot) for row in failures(rows_of(run.path))]
    assert found == ([(1, 1, 11)] if nan else [])


def test_without_values_old_slots_are_not_judged(tmp_path: Path) -> None:
    run = goes_on(tmp_path / "run.kvrec", nan=True, spec=RunSpec(trace="off"))
    run.writer.finish("finished")
    second = [row for row in rows_of(run.path) if row.chunk == 1]
    assert failures(second) == []
    assert second[1].words == "7 new, all NaN; old ones not recorded"


def test_a_chunk_whose_forerunner_left_no_frame_is_not_judged_by_it(tmp_path: Path) -> None:
    run = goes_on(tmp_path / "run.kvrec", nan=True)
    run.writer.finish("stopped")
    tamper(run.path, "DELETE FROM frame")
    second = [row for row in rows_of(run.path) if row.chunk == 1]
    assert second[1].words.endswith("old ones not recorded")


def test_an_expansion_of_no_known_cache_is_left_out(whole: Path) -> None:
    tamper(whole, "UPDATE expansion SET cache = 77 WHERE cache = 1")
    assert {row.cache for row in rows_of(whole)} == {0}
