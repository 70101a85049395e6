"""Chunks that ended because their room was used up."""

from pathlib import Path

from kvstudio.analysis.checks.ending import check_ending
from tests.analysis.checks.running import cut_off, findings_of
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def test_a_run_that_ends_by_eos_is_fine(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(5)
    assert findings_of(check_ending, run.path) == []


def test_a_run_without_eos(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=False)
    (found,) = findings_of(check_ending, run.path)
    assert (found.kind, found.severity, found.frame) == ("no-eos", "warning", 5)
    assert found.message.startswith("Chunk 0 ran to its maximum length of 4 frames without EOS")
    assert "came to -5.40 at most, the threshold is 0." in found.message
    assert found.chain[0] == "chunk 0: current_end 5 + token_count 6 + max_gen_len 4 = 15"


def test_a_stop_logit_of_nan_is_named_as_the_reason(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=False)
    tamper(run.path, "UPDATE frame SET stop_logit = 'nan' WHERE id = 4")
    (found,) = findings_of(check_ending, run.path)
    assert "the stop logit became NaN" in found.message


def test_unknown_logits_and_thresholds_are_said(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=False)
    tamper(run.path, "UPDATE frame SET stop_threshold = NULL")
    (found,) = findings_of(check_ending, run.path)
    assert "the threshold is unknown" in found.message
    tamper(run.path, "UPDATE frame SET stop_logit = NULL")
    (found,) = findings_of(check_ending, run.path)
    assert "no stop logit was seen" in found.message


def test_a_run_whose_end_did_not_fit(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=True)
    (found,) = findings_of(check_ending, run.path)
    assert (found.kind, found.severity, found.frame) == ("length-cut", "warning", 5)
    assert "EOS came in frame 5 (decode step 3)" in found.message


def test_a_run_that_just_fits_drops_its_last_latent(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=True)
    tamper(run.path, "DELETE FROM audio WHERE frame = 5")
    assert findings_of(check_ending, run.path) == []


def test_a_run_that_was_stopped_has_no_end_to_judge(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=False)
    tamper(run.path, "UPDATE meta SET value = '\"stopped\"' WHERE key = 'status'")
    assert findings_of(check_ending, run.path) == []
