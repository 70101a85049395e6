"""What queries attended to, against what they may."""

from dataclasses import replace
from pathlib import Path

import pytest

from kvstudio.analysis.checks.masks import MaskCheck
from tests.analysis.checks.evidence import begun, ended, healthy, misuse
from tests.analysis.checks.running import findings_of
from tests.fakes import FILE, FakeRun

CODEC = 3  # the cache of FakeRun's Mimi, which looks back 16 slots
ALL_OF_IT = replace(
    healthy(CODEC, 16, queries=4, context=16), oldest=0, attended=20, future=6, outside=10
)


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec", layers=3))


def test_healthy_attention(run: FakeRun) -> None:
    run.evidence = {"attentions": [healthy(0, 13), healthy(CODEC, 28, queries=4, context=16)]}
    ended(run)
    assert findings_of(MaskCheck, run.path) == []


def test_an_open_mask_is_one_finding_though_it_opens_the_window_too(run: FakeRun) -> None:
    for _ in range(2):
        run.evidence = {"attentions": [ALL_OF_IT]}
        run.decode()
    ended(run)
    (found,) = findings_of(MaskCheck, run.path)
    assert (found.kind, found.frame, found.count) == ("mask-future", 4, 2)
    assert found.layer == "decoder_transformer.transformer.layers.0.self_attn"
    assert (found.slots, found.site) == ((17, 20), f"{FILE}:13")
    assert "6 pairs of 4 queries and 20 keys" in found.message


def test_later_slots_that_nobody_wrote_are_an_unwritten_read(run: FakeRun) -> None:
    ahead = replace(healthy(0, 13), keys=15, newest=14, attended=15, future=1)
    read = misuse("unwritten-read", 0, (14, 15), op=ahead.op, masked=False, fill="zero")
    run.evidence = {"attentions": [ahead], "misuses": [read]}
    ended(run)
    assert findings_of(MaskCheck, run.path) == []


def test_the_oldest_slots_fall_out(run: FakeRun) -> None:
    short = replace(healthy(0, 13), oldest=4, attended=10, missing=4)
    run.evidence = {"attentions": [short]}
    ended(run)
    (found,) = findings_of(MaskCheck, run.path)
    assert (found.kind, found.layer, found.slots) == ("window-mismatch", 0, (0, 4))
    assert (
        "the last query attended to 10 of slots 4 to 13, but should attend to slots 0 to 13 (all); "
        "4 pairs are missing, 0 are further apart than that"
    ) in found.message


def test_keys_that_end_too_early(run: FakeRun) -> None:
    short = replace(healthy(0, 13), keys=13, newest=12, attended=13, missing=1)
    run.evidence = {"attentions": [short]}
    ended(run)
    (found,) = findings_of(MaskCheck, run.path)
    assert (found.kind, found.slots) == ("window-mismatch", (13, 14))


def test_a_window_that_is_missing(run: FakeRun) -> None:
    wide = replace(healthy(CODEC, 28, queries=4, context=16), oldest=0, attended=32, outside=62)
    run.evidence = {"attentions": [wide]}
    ended(run)
    (found,) = findings_of(MaskCheck, run.path)
    assert (found.kind, found.slots) == ("window-mismatch", (0, 16))
    assert "should attend to slots 16 to 31 (the last 16)" in found.message


def test_nothing_attended_at_all(run: FakeRun) -> None:
    none = replace(healthy(0, 13), oldest=None, newest=None, attended=0, missing=14)
    run.evidence = {"attentions": [none]}
    ended(run)
    (found,) = findings_of(MaskCheck, run.path)
    assert (found.kind, found.slots) == ("window-mismatch", (0, 14))
    assert "the last query attended to nothing" in found.message


def test_what_was_dropped_at_the_capacity_cannot_be_attended_to(tmp_path: Path) -> None:
    run = begun(FakeRun(tmp_path / "full.kvrec", room=2))
    full = replace(healthy(0, 13), keys=13, newest=12, attended=13, missing=1)
    run.evidence = {"attentions": [full]}
    ended(run)
    assert findings_of(MaskCheck, run.path) == []


def test_a_pad_that_hides_the_beginning(run: FakeRun) -> None:
    run.evidence = {"attentions": [replace(healthy(0, 13), oldest=3, attended=11)]}
    ended(run)
    (found,) = findings_of(MaskCheck, run.path)
    assert (found.kind, found.slots) == ("window-mismatch", (0, 3))
    assert "the state's pad hides slots 0 to 2, though a run of one text" in found.message


def test_values_of_other_slots_than_their_keys(run: FakeRun) -> None:
    run.evidence = {"attentions": [replace(healthy(0, 13), missing=14)]}
    ended(run)
    (found,) = findings_of(MaskCheck, run.path)
    assert (found.kind, found.slots) == ("window-mismatch", (0, 14))
    assert "14 pairs of query and key were given the value of another slot" in found.message
    assert "weighs one moment and hears another" in found.message
