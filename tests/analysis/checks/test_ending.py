"""Chunks that ended because their room was used up."""

from pathlib import Path

from kvstudio.analysis.checks.ending import EndingCheck
from tests.analysis.checks.running import cut_off, findings_of, texts
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def test_a_run_that_ends_by_eos_is_fine(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(5)
    assert findings_of(EndingCheck, run.path) == []


def test_a_run_without_eos(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 30, eos=False)
    (found,) = findings_of(EndingCheck, run.path)
    assert (found.kind, found.severity, found.frame) == ("no-eos", "warning", 31)
    assert found.message.startswith("Chunk 0 ran to its maximum length of 30 frames without EOS")
    assert "came to -0.20 at most, the threshold is 0." in found.message
    assert texts(found)[0] == "chunk 0: current_end 5 + token_count 1 + max_gen_len 30 = 36"


def test_a_stop_logit_of_nan_is_named_as_the_reason(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 30, eos=False)
    tamper(run.path, "UPDATE frame SET stop_logit = 'nan' WHERE id = 4")
    (found,) = findings_of(EndingCheck, run.path)
    assert "the stop logit became NaN" in found.message


def test_unknown_logits_and_thresholds_are_said(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 30, eos=False)
    tamper(run.path, "UPDATE frame SET stop_threshold = NULL")
    (found,) = findings_of(EndingCheck, run.path)
    assert "the threshold is unknown" in found.message
    tamper(run.path, "UPDATE frame SET stop_logit = NULL")
    (found,) = findings_of(EndingCheck, run.path)
    assert "no stop logit was seen" in found.message


def test_a_run_that_was_not_given_the_usual_room(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 29, eos=False)
    (found,) = findings_of(EndingCheck, run.path)
    assert (found.kind, found.severity, found.frame) == ("length-cut", "warning", 30)
    assert "at its maximum length of 29 frames before EOS came" in found.message
    assert texts(found)[1] == "max_gen_len is 29, for 1 tokens 30 is usual"


def test_a_run_whose_end_did_not_fit(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=True)
    (found,) = findings_of(EndingCheck, run.path)
    assert (found.kind, found.severity, found.frame) == ("length-cut", "warning", 5)
    assert "EOS came in frame 5 (decode step 3)" in found.message


def test_a_run_that_just_fits_drops_its_last_latent(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 4, eos=True)
    tamper(run.path, "DELETE FROM audio WHERE frame = 5")
    assert findings_of(EndingCheck, run.path) == []


def test_a_run_that_was_stopped_has_no_end_to_judge(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 30, eos=False)
    tamper(run.path, "UPDATE meta SET value = '\"stopped\"' WHERE key = 'status'")
    assert findings_of(EndingCheck, run.path) == []
