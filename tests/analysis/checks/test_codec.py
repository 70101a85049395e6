"""Mimi's streaming state between frames."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.codec import CodecStateCheck
from kvstudio.recording.evidence import Found, Surprise
from tests.analysis.checks.evidence import begun, changed, ended, moved, name_of
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FakeRun


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec"), steps=0)


def codec(key: str, found: Found, entry: str = "decoder.model.0") -> Surprise:
    return Surprise("mimi", entry, key, found)


def test_a_healthy_run_has_none(run: FakeRun) -> None:
    ended(run)
    assert findings_of(CodecStateCheck, run.path) == []


def test_a_clip_that_begins_with_the_state_of_another_one(run: FakeRun) -> None:
    entries = [f"decoder.model.{n}" for n in range(5)]
    run.evidence = {"surprises": [codec("previous", "not fresh", entry) for entry in entries]}
    ended(run)
    (found,) = findings_of(CodecStateCheck, run.path)
    assert (found.kind, found.frame, found.layer) == ("codec-state-stale", 2, "decoder.model.0")
    assert (found.slots, found.count) == (None, 5)
    assert found.message.startswith(
        "Frame 2 (decode step 0) found the codec's state not fresh, though a chunk begins here. "
    )
    assert found.message.endswith(
        "Entries: decoder.model.0.previous, decoder.model.1.previous, decoder.model.2.previous, "
        "decoder.model.3.previous and 1 more."
    )


def test_a_state_that_is_made_afresh_in_the_middle_of_a_chunk(run: FakeRun) -> None:
    run.decode()
    for _ in range(2):
        run.evidence = {"surprises": [codec("partial", "fresh"), codec("previous", "fresh")]}
        run.decode()
    ended(run)
    (found,) = findings_of(CodecStateCheck, run.path)
    assert (found.kind, found.frame, found.count) == ("codec-state-reset", 3, 4)
    assert "as if just made, in the middle of a chunk" in found.message
    assert texts(found)[0] == (
        "frame 3 (decode step 1) found decoder.model.0.partial, decoder.model.0.previous fresh"
    )


def test_slots_of_the_codec_that_somebody_changed(run: FakeRun) -> None:
    run.decode()
    run.evidence = {"surprises": [changed(0, (1, 4), model="mimi")]}
    ended(run)
    (found,) = findings_of(CodecStateCheck, run.path)
    assert (found.kind, found.slots, found.cache) == ("codec-state-stale", (1, 4), 2)
    assert found.layer == name_of(0, "mimi")
    assert "not what the frame before had left" in found.message


def test_a_second_owner_of_the_codec_is_another_finding(run: FakeRun) -> None:
    run.decode()
    both = [changed(0, (4, 8), model="mimi"), moved(0, model="mimi"), codec("partial", "changed")]
    run.evidence = {"surprises": both}
    ended(run)
    assert findings_of(CodecStateCheck, run.path) == []


def test_the_encoder_s_entries_come_last_for_it_takes_no_part_in_decoding(run: FakeRun) -> None:
    run.decode()
    rows = [codec("offset", "fresh", f"{part}.model.0") for part in ("encoder", "decoder")]
    run.evidence = {"surprises": rows}
    ended(run)
    (found,) = findings_of(CodecStateCheck, run.path)
    assert (found.layer, found.count) == ("decoder.model.0", 2)


def test_what_a_convolution_wrote_over_before_it_read_it(run: FakeRun) -> None:
    for _ in range(2):
        run.evidence = {"surprises": [codec("previous", "unread")]}
        run.decode()
    ended(run)
    (found,) = findings_of(CodecStateCheck, run.path)
    assert (found.kind, found.frame, found.count) == ("codec-state-reset", 2, 2)
    assert "wrote over it before it had read it" in found.message
    assert texts(found)[0] == "frame 2 (decode step 0) wrote over decoder.model.0.previous unread"


def test_what_a_convolution_used_and_left_as_it_was(run: FakeRun) -> None:
    run.decode()
    run.evidence = {"surprises": [codec("partial", "kept")]}
    ended(run)
    (found,) = findings_of(CodecStateCheck, run.path)
    assert (found.kind, found.frame) == ("codec-state-stale", 3)
    assert texts(found)[0] == "frame 3 (decode step 1) left decoder.model.0.partial as it was"
