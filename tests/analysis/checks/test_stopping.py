"""The stop test, against the one that the run asked for."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.stopping import StoppingCheck
from kvstudio.recording.spec import RunSpec
from tests.analysis.checks.evidence import begun, ended
from tests.analysis.checks.running import findings_of
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def made(folder: Path, threshold: float | None = None) -> FakeRun:
    """Four decode steps whose frames compare with 0; the last, frame 5, ends the run by EOS."""
    run = FakeRun(folder / "run.kvrec", spec=RunSpec(eos_threshold=threshold))
    run.begin_chunk()
    run.prefill()
    for step in range(4):
        run.decode(eos=step == 3, decoded=step < 3)
    run.writer.finish("finished", "ended by EOS")
    return run


@pytest.mark.parametrize("threshold", [None, 0.0])
def test_a_healthy_run_has_none(tmp_path: Path, threshold: float | None) -> None:
    assert findings_of(StoppingCheck, made(tmp_path, threshold).path) == []


def test_a_run_cut_off_by_its_length_has_none(tmp_path: Path) -> None:
    run = ended(begun(FakeRun(tmp_path / "run.kvrec")))
    tamper(run.path, "UPDATE frame SET eos = 0, stop_logit = -1")
    assert findings_of(StoppingCheck, run.path) == []


def test_a_threshold_lower_than_asked_for(tmp_path: Path) -> None:
    (found,) = findings_of(StoppingCheck, made(tmp_path, 1.5).path)
    assert (found.kind, found.severity, found.frame) == ("early-eos", "error", 2)
    assert found.message.startswith(
        "Frame 2 (decode step 0) compared its stop logit with 0, but the run asked for 1.5. "
        "Speech ends before the text is over."
    )


def test_a_threshold_lower_than_the_model_s_own(tmp_path: Path) -> None:
    run = made(tmp_path)
    tamper(run.path, """UPDATE meta SET value = '{"eos_threshold": 4}' WHERE key = 'model'""")
    (found,) = findings_of(StoppingCheck, run.path)
    assert found.kind == "early-eos"


def test_a_threshold_that_is_lowered_in_the_middle(tmp_path: Path) -> None:
    run = made(tmp_path)
    tamper(run.path, "UPDATE frame SET stop_threshold = -1000 WHERE id >= 4")
    (found,) = findings_of(StoppingCheck, run.path)
    assert (found.kind, found.frame) == ("early-eos", 4)


def test_a_threshold_that_nothing_exceeds(tmp_path: Path) -> None:
    run = made(tmp_path)
    tamper(run.path, "UPDATE frame SET stop_threshold = 1e9, eos = 0 WHERE id >= 3")
    found = findings_of(StoppingCheck, run.path)
    assert (found[0].kind, found[0].frame) == ("no-eos", 3)
    assert "Speech goes on after the text is over" in found[0].message


def test_a_stop_flag_without_a_logit_to_match(tmp_path: Path) -> None:
    run = made(tmp_path)
    tamper(run.path, "UPDATE frame SET eos = 1 WHERE id = 3")
    (found,) = findings_of(StoppingCheck, run.path)
    assert (found.kind, found.frame) == ("early-eos", 3)
    assert "it is -5.80, the threshold 0" in found.message


def test_a_chunk_that_ends_without_a_reason(tmp_path: Path) -> None:
    run = made(tmp_path)
    tamper(run.path, "UPDATE frame SET eos = 0, stop_logit = -3 WHERE id = 5")
    (found,) = findings_of(StoppingCheck, run.path)
    assert (found.kind, found.frame) == ("early-eos", 5)


def test_so_does_a_chunk_before_the_last(tmp_path: Path) -> None:
    run = begun(FakeRun(tmp_path / "run.kvrec"))
    run.decode(decoded=False)
    run.begin_chunk("And more.")
    run.prefill()
    ended(run)
    (found,) = findings_of(StoppingCheck, run.path)
    assert (found.kind, found.frame) == ("early-eos", 4)


def test_a_run_that_was_stopped_was_not_ended_by_the_model(tmp_path: Path) -> None:
    run = begun(FakeRun(tmp_path / "run.kvrec"))
    run.decode(decoded=False)
    run.writer.finish("stopped", "stopped by the user")
    assert findings_of(StoppingCheck, run.path) == []
