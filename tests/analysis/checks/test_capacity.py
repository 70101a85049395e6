"""More slots to be written than there are."""

from pathlib import Path

from kvstudio.analysis.checks.capacity import CapacityCheck
from kvstudio.recording.evidence import Misuse
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FILE, FakeRun
from tests.recording.reading import tamper


def test_frames_past_the_capacity_are_dropped_writes(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec", room=3)
    run.run(5)
    flow, mimi = findings_of(CapacityCheck, run.path)
    assert (flow.kind, flow.severity) == ("dropped-write", "error")
    assert (flow.frame, flow.phase) == (5, "decode")
    assert (flow.layer, flow.slots, flow.count) == (0, (14, 15), 4)
    assert (flow.op, flow.site) == ("aten.copy_.default", f"{FILE}:28")
    assert flow.message.startswith(
        "Layers 0 and 1: frame 5 (decode step 3) was to write slot 14, but the cache has 14 slots"
    )
    assert "without an error" in flow.message
    assert texts(flow) == [
        "chunk 0: current_end 5 + token_count 6 + max_gen_len 3 = 14",
        "capacity 14",
        "frame 5 (decode step 3) writes slot 14",
    ]
    assert [link.frame for link in flow.chain] == [1, 5, 5]  # sized by the text prefill
    assert mimi.layer == "decoder_transformer.transformer.layers.0.self_attn"
    assert mimi.slots == (12, 16)
    assert mimi.message.startswith("Mimi decoder layer 0: frame 5")


def test_the_op_that_dropped_is_named_if_it_was_seen(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    run.prefill()
    run.evidence = {"misuses": [Misuse(2, 0, "dropped-write", 0, 9, 10, 0, 2, None, "nan")]}
    run.decode()
    run.writer.finish("stopped")
    (found,) = findings_of(CapacityCheck, run.path)
    assert (found.frame, found.layer, found.slots, found.count) == (2, 0, (9, 10), 1)
    assert (found.op, found.site) == ("aten.copy_.default", f"{FILE}:12")
    assert "write slot 9, but the slice that it was copied to has no slots" in found.message
    assert found.chain[-1].op == 3
    assert texts(found)[-1].endswith("writes to a slice without slots")


def test_a_dropped_write_of_a_run_without_ops_names_no_op(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec", room=3, ops_per_frame=0)
    run.run(4)
    tamper(run.path, "DELETE FROM op", "DELETE FROM touch")
    flow, _ = findings_of(CapacityCheck, run.path)
    assert (flow.op, flow.site, flow.slots) == (None, None, (14, 15))


def test_a_prefill_past_the_capacity_that_raised(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    run.prefill()
    run.writer.finish("failed", "it raised")
    tamper(
        run.path,
        "UPDATE frame SET problem = 'RuntimeError: shapes' WHERE id = 1",
        "UPDATE cache_state SET capacity = 8, offset = 5 WHERE frame = 1",
    )
    (found,) = findings_of(CapacityCheck, run.path)
    assert (found.kind, found.frame, found.phase) == ("capacity-exceeded", 1, "text")
    assert found.layer == 0
    assert (found.slots, found.count) == ((5, 11), 2)
    assert "needed slots 5 to 10, but the cache has 8 slots" in found.message
    assert "the model raised: RuntimeError: shapes" in found.message


def test_a_frame_that_raised_with_room_enough_is_not_about_capacity(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(3)
    tamper(run.path, "UPDATE frame SET problem = 'ValueError: other' WHERE id = 4")
    assert findings_of(CapacityCheck, run.path) == []


def test_a_run_that_just_fits_is_fine(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec", room=4)
    run.run(4)
    assert findings_of(CapacityCheck, run.path) == []
