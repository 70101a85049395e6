"""Slot, RoPE position and mask position of a step."""

from dataclasses import replace
from pathlib import Path

import pytest

from kvstudio.analysis.checks.masks import MaskCheck
from kvstudio.analysis.checks.positions import PositionCheck
from tests.analysis.checks.evidence import begun, ended, healthy
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FakeRun
from tests.recording.reading import tamper


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec", layers=3))


def test_positions_that_agree(run: FakeRun) -> None:
    run.evidence = {"attentions": [healthy(0, 13), healthy(1, 13), healthy(3, 32, queries=16)]}
    ended(run)
    assert findings_of(PositionCheck, run.path) == []


def test_a_rotary_position_that_does_not_move(run: FakeRun) -> None:
    rows = [replace(healthy(n, 13), rope=13) for n in range(3)]
    run.evidence = {"attentions": rows}
    run.decode()
    for position in (14, 15):
        run.evidence = {"attentions": [replace(healthy(n, position), rope=13) for n in range(3)]}
        run.decode()
    ended(run)
    (found,) = findings_of(PositionCheck, run.path)
    assert (found.kind, found.frame, found.caches) == ("position-mismatch", 5, (0, 1, 2))
    assert (found.slots, found.count) == ((14, 15), 6)
    assert found.message.startswith(
        "Layers 0 to 2: frame 5 (decode step 3) found the offset 14, but its positions disagree: "
        "slot 14, RoPE position 13, mask position 14; it does not move from frame to frame. "
    )
    assert texts(found)[0] == "offset 14: slot 14, RoPE position 13, mask position 14"


def test_a_write_beside_the_offset_in_one_layer(run: FakeRun) -> None:
    run.evidence = {"attentions": [healthy(0, 13), replace(healthy(1, 13), slot=14)]}
    ended(run)
    tamper(run.path, "UPDATE slot_delta SET first = 14, last = 15 WHERE frame = 4 AND cache = 1")
    (found,) = findings_of(PositionCheck, run.path)
    assert (found.layer, found.slots) == (1, (13, 14))
    assert "slot 14, RoPE position 13, mask position 13. The frame's K and V" in found.message
    assert found.chain[0].slot == 14


def test_a_frame_that_writes_elsewhere_too_overwrites(run: FakeRun) -> None:
    run.evidence = {"attentions": [replace(healthy(1, 13), slot=2)]}
    ended(run)
    assert findings_of(PositionCheck, run.path) == []


def test_a_mask_that_hides_the_newest_slot(run: FakeRun) -> None:
    shifted = replace(healthy(0, 13), newest=12, attended=13, missing=1)
    run.evidence = {"attentions": [shifted]}
    ended(run)
    (found,) = findings_of(PositionCheck, run.path)
    assert "slot 13, RoPE position 13, mask position 12. The newest slots are" in found.message
    assert findings_of(MaskCheck, run.path) == []


def test_a_shifted_mask_of_a_codec_with_a_window(run: FakeRun) -> None:
    shifted = replace(
        healthy(3, 64, queries=16, context=16), oldest=62, newest=77, missing=16, outside=16
    )
    run.evidence = {"attentions": [shifted]}
    ended(run)
    (found,) = findings_of(PositionCheck, run.path)
    assert "mask position 62" in found.message
    assert found.layer == "decoder_transformer.transformer.layers.0.self_attn"


def test_numbers_that_were_not_seen_prove_nothing(run: FakeRun) -> None:
    blind = replace(healthy(0, 13), slot=None, rope=None, oldest=None, newest=None, attended=0)
    run.evidence = {"attentions": [blind]}
    ended(run)
    assert findings_of(PositionCheck, run.path) == []
