"""Reads of slots that hold nothing of this passage."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.reads import StaleReadCheck, UnwrittenReadCheck
from kvstudio.recording.evidence import Fill
from tests.analysis.checks.evidence import begun, ended, misuse
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FILE, FakeRun


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    """Two healthy decode steps are done; the next is frame 4 and finds the offset at 13."""
    return begun(FakeRun(tmp_path / "run.kvrec", layers=3))


def test_a_healthy_run_has_none(run: FakeRun) -> None:
    ended(run)
    assert findings_of(UnwrittenReadCheck, run.path) == []
    assert findings_of(StaleReadCheck, run.path) == []


def test_nan_that_leaks_through_the_mask_in_every_layer_is_one_finding(run: FakeRun) -> None:
    for frame in range(2):
        slots = (14 + frame, 16 + frame)
        run.evidence = {
            "misuses": [misuse("unwritten-read", n, slots, op=2 + n, masked=True) for n in range(3)]
        }
        run.decode()
    ended(run)
    (found,) = findings_of(UnwrittenReadCheck, run.path)
    assert (found.kind, found.severity, found.frame) == ("unwritten-read", "error", 4)
    assert (found.layer, found.caches, found.slots, found.kv) == (0, (0, 1, 2), (14, 16), None)
    assert (found.op, found.site, found.count) == ("aten.copy_.default", f"{FILE}:12", 6)
    assert found.message == (
        "Layers 0 to 2: frame 4 (decode step 2) read slots 14 to 15 of K and V: nobody has written "
        f"there yet, past the offset 14. aten.copy_.default at {FILE}:12 masks what it read, but "
        "0 x NaN is NaN: what comes out is NaN. Look at where the keys are cut off: they should "
        "end at the offset."
    )
    assert texts(found)[:2] == [
        "slots 14 to 15 of layers 0 to 2: nobody has written there yet, past the offset 14",
        f"aten.copy_.default at {FILE}:12 in complete_kv reads slots 14 to 15",
    ]
    assert (found.chain[0].cache, found.chain[0].slot, found.chain[1].frame) == (0, 14, 4)


@pytest.mark.parametrize(
    ("masked", "fill", "words"),
    [
        (False, "nan", "attends to what it read: NaN, so what comes out is NaN"),
        (False, "zero", "attends to what it read: zeros, and a zero key gets weight like any"),
        (None, "other", "computes with what it read: numbers, which mix with the rest"),
    ],
)
def test_what_is_attended_is_an_error_whatever_it_holds(
    run: FakeRun, masked: bool | None, fill: Fill, words: str
) -> None:
    run.evidence = {"misuses": [misuse("unwritten-read", 1, (20, 21), masked=masked, fill=fill)]}
    ended(run)
    (found,) = findings_of(UnwrittenReadCheck, run.path)
    assert (found.severity, found.layer, found.slots) == ("error", 1, (20, 21))
    assert words in found.message


def test_what_is_masked_and_finite_is_harmless_and_says_so(run: FakeRun) -> None:
    run.evidence = {"misuses": [misuse("unwritten-read", 1, (20, 21), masked=True, fill="zero")]}
    ended(run)
    (found,) = findings_of(UnwrittenReadCheck, run.path)
    assert found.severity == "warning"
    assert "read, masked: harmless as long as it is finite (zeros here)" in found.message


def test_a_harmless_read_that_is_heard_later_is_one_finding(run: FakeRun) -> None:
    for masked in (True, False):
        run.evidence = {
            "misuses": [misuse("unwritten-read", 1, (20, 21), masked=masked, fill="zero")]
        }
        run.decode()
    ended(run)
    (found,) = findings_of(UnwrittenReadCheck, run.path)
    assert (found.severity, found.frame) == ("error", 5)


def test_k_or_v_and_the_heads_are_said(run: FakeRun) -> None:
    run.evidence = {"misuses": [misuse("unwritten-read", 2, (20, 22), kv=1, heads=(1, 2))]}
    ended(run)
    (found,) = findings_of(UnwrittenReadCheck, run.path)
    assert found.kv == "V"
    assert "read slots 20 to 21 of V, head 1: nobody" in found.message


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        ((13, 14), "nobody has written there, though this very frame should have"),
        ((12, 13), "nobody has written there, frame 3 (decode step 1) should have"),
        ((7, 8), "nobody has written there, frame 1 (text prefill) should have"),
        ((2, 3), "nobody has written there, though it belongs to the voice"),
    ],
)
def test_who_should_have_written_it(run: FakeRun, slots: tuple[int, int], words: str) -> None:
    run.evidence = {"misuses": [misuse("unwritten-read", 0, slots, masked=False)]}
    ended(run)
    (found,) = findings_of(UnwrittenReadCheck, run.path)
    assert words in found.message
    assert "in the cache map and the ops of that frame" in found.message


def test_layers_that_begin_in_different_frames_are_two_findings(run: FakeRun) -> None:
    for cache in (2, 0):
        run.evidence = {"misuses": [misuse("unwritten-read", cache, (20, 21), masked=False)]}
        run.decode()
    ended(run)
    found = findings_of(UnwrittenReadCheck, run.path)
    assert [(each.frame, each.layer) for each in found] == [(4, 2), (5, 0)]


def test_old_speech_that_is_attended_to(run: FakeRun) -> None:
    stale = misuse("stale-read", 1, (18, 22), masked=False, fill="other", writer=3)
    run.evidence = {"misuses": [stale]}
    ended(run)
    (found,) = findings_of(StaleReadCheck, run.path)
    assert (found.kind, found.layer, found.slots) == ("stale-read", 1, (18, 22))
    assert "there still lies what frame 3 (decode step 1) wrote" in found.message
    assert findings_of(UnwrittenReadCheck, run.path) == []


def test_old_speech_from_before_the_run_that_the_mask_hides(run: FakeRun) -> None:
    stale = misuse("stale-read", 1, (18, 22), masked=True, fill="other")
    run.evidence = {"misuses": [stale]}
    ended(run)
    (found,) = findings_of(StaleReadCheck, run.path)
    assert found.severity == "warning"
    assert "there lies what was left from before the run" in found.message
