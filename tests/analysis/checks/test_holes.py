"""Slots below the offset that nobody wrote."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kvstudio.analysis.checks.holes import HolesCheck
from kvstudio.analysis.checks.numbers import NanCheck
from kvstudio.recording.rows import Cache, SlotDelta
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FakeRun
from tests.recording.reading import tamper


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return FakeRun(tmp_path / "run.kvrec", layers=3)


def test_a_healthy_run_has_none(run: FakeRun) -> None:
    run.run(6)
    assert findings_of(HolesCheck, run.path) == []


def test_a_frame_that_one_layer_did_not_write(run: FakeRun) -> None:
    run.run(6)
    tamper(run.path, "DELETE FROM slot_delta WHERE cache = 2 AND frame IN (4, 6)")
    (hole,) = findings_of(HolesCheck, run.path)
    assert (hole.kind, hole.frame, hole.layer, hole.slots) == ("hole", 4, 2, (13, 14))
    assert hole.count == 2
    assert hole.message.startswith(
        "Layer 2: frame 4 (decode step 2) moved the offset past slot 13, which nobody wrote"
    )


def test_part_of_a_prefill_in_every_layer(run: FakeRun) -> None:
    run.run(2)
    tamper(
        run.path,
        "UPDATE slot_delta SET first = 8, \"values\" = x'' WHERE frame = 1 AND cache < 3",
    )
    (hole,) = findings_of(HolesCheck, run.path)
    assert (hole.layer, hole.slots, hole.count) == (0, (5, 8), 9)
    assert hole.message.startswith("Layers 0 to 2: frame 1 (text prefill) moved the offset past sl")


def test_slots_of_the_voice_that_were_never_written(run: FakeRun) -> None:
    run.base[1][:, :, 2:4] = np.nan
    run.base[1][:, :, 0] = np.nan
    run.run(2)
    (hole,) = findings_of(HolesCheck, run.path)
    assert (hole.frame, hole.phase, hole.layer, hole.slots) == (0, "voice", 1, (0, 1))
    assert hole.count == 3
    assert "Make the voice state again" in hole.message


def test_one_nan_in_a_slot_of_the_voice_is_no_hole(run: FakeRun) -> None:
    run.base[1][0, 0, 2, 0, 0] = np.nan
    run.run(2)
    assert findings_of(HolesCheck, run.path) == []


def test_a_hole_in_mimi_s_decoder(run: FakeRun) -> None:
    run.run(3)
    tamper(run.path, "DELETE FROM slot_delta WHERE cache = 3 AND frame = 3")
    (hole,) = findings_of(HolesCheck, run.path)
    assert hole.layer == "decoder_transformer.transformer.layers.0.self_attn"
    assert hole.slots == (4, 8)


def test_mimi_s_encoder_is_never_written_and_that_is_normal(run: FakeRun) -> None:
    run.run(3)
    tamper(
        run.path,
        "DELETE FROM slot_delta WHERE cache = 3",
        "UPDATE cache SET name = replace(name, 'decoder', 'encoder') WHERE model = 'mimi'",
    )
    assert findings_of(HolesCheck, run.path) == []


def test_a_half_that_nobody_wrote_is_a_hole(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec", layers=1, ops_per_frame=4)
    run.begin_chunk()
    run.prefill()
    delta, states = run._delta, run._flow_states

    def without_v(cache: Cache, first: int, slots: int, *, nan: bool = False) -> SlotDelta:
        found = delta(cache, first, slots, nan=nan)
        if cache.id == 0 and found.values is not None:
            found.values[1] = np.nan
        return found

    run._delta = without_v  # type: ignore[method-assign]
    run._flow_states = lambda: [  # type: ignore[method-assign]
        replace(state, nan_slots=state.nan_slots + 1) for state in states()
    ]
    run.decode()
    run.writer.finish("stopped")
    tamper(run.path, "UPDATE touch SET kv = 0 WHERE cache = 0 AND write = 1")
    (found,) = findings_of(NanCheck, run.path)
    assert (found.kind, found.kv, found.frame, found.slots) == ("hole", "V", 2, (11, 12))
    assert "wrote K of slot 11, but not V, which is NaN as it was" in found.message
    assert texts(found) == ["frame 2 (decode step 0) should have written V of slot 11 of layer 0"]
    tamper(run.path, "UPDATE touch SET kv = 2 WHERE cache = 0 AND write = 1")
    assert [(each.kind, each.kv) for each in findings_of(NanCheck, run.path)] == [
        ("nan-produced", "V")
    ]


def test_an_offset_restored_too_far_is_a_hole_of_the_voice(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(2)
    tamper(run.path, "UPDATE chunk_base SET offset = 8 WHERE cache = 1")
    found = findings_of(HolesCheck, run.path)[0]
    assert (found.kind, found.frame, found.layer, found.slots) == ("hole", 0, 1, (5, 8))
