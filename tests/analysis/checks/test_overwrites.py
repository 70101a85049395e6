"""History that was written again."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.overwrites import OverwriteCheck
from tests.analysis.checks.evidence import begun, changed, ended, misuse, moved
from tests.analysis.checks.running import findings_of
from tests.fakes import FILE, FakeRun
from tests.recording.reading import tamper


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec", layers=3))


def test_a_healthy_run_has_none(run: FakeRun) -> None:
    ended(run)
    assert findings_of(OverwriteCheck, run.path) == []


def test_slots_of_the_voice_that_an_op_writes_again(run: FakeRun) -> None:
    for _ in range(2):
        run.evidence = {
            "misuses": [misuse("overwrite", n, (2, 5), fill="other", writer=0) for n in range(3)]
        }
        run.decode()
    ended(run)
    (found,) = findings_of(OverwriteCheck, run.path)
    assert (found.kind, found.frame, found.layer, found.slots) == ("overwrite", 4, 0, (2, 5))
    assert (found.count, found.site) == (6, f"{FILE}:13")
    assert found.message.startswith(
        "Layers 0 to 2: frame 4 (decode step 2) wrote slots 2 to 4 of K and V, which held what "
        "frame 0 (voice prefill) had written. "
    )


def test_slots_that_nobody_s_op_changed(run: FakeRun) -> None:
    run.evidence = {"surprises": [changed(1, (3, 5))]}
    ended(run)
    (found,) = findings_of(OverwriteCheck, run.path)
    assert (found.kind, found.frame, found.layer, found.slots) == ("overwrite", 4, 1, (3, 5))
    assert found.op is None
    assert found.message.startswith(
        "Layer 1: slots 3 to 4 changed before frame 4 (decode step 2) began, by no op of the model"
    )


@pytest.mark.parametrize(("raw", "words"), [("zeroblob(640)", "(zeros)"), ("NAN", "(NaN)")])
def test_what_the_slots_hold_now_is_said(run: FakeRun, raw: str, words: str) -> None:
    run.evidence = {"surprises": [changed(1, (0, 5))]}
    ended(run)
    if raw == "NAN":
        raw = "x'" + "0000c07f" * (640 // 4) + "'"
    tamper(
        run.path,
        'INSERT INTO slot_delta (frame, cache, first, last, worst, "values") '
        f"VALUES (4, 1, 0, 5, 0, CAST({raw} AS BLOB))",
    )
    (found,) = findings_of(OverwriteCheck, run.path)
    assert f"somebody outside it wrote to its cache {words}." in found.message


def test_where_the_offset_moved_too_somebody_takes_steps_which_is_another_finding(
    run: FakeRun,
) -> None:
    run.evidence = {"surprises": [changed(1, (13, 14)), moved(1)]}
    ended(run)
    assert findings_of(OverwriteCheck, run.path) == []
