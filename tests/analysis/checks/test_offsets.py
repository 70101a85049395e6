"""Layers that count differently, and offsets that move by something else."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.offsets import OffsetJumpCheck, OffsetSkewCheck
from tests.analysis.checks.running import findings_of
from tests.fakes import FakeRun
from tests.recording.reading import tamper

MIMI = "decoder_transformer.transformer.layers.0.self_attn"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.kvrec"
    FakeRun(path, layers=4).run(6)
    return path


def test_a_healthy_run_has_neither(path: Path) -> None:
    assert findings_of(OffsetSkewCheck, path) == findings_of(OffsetJumpCheck, path) == []


def test_one_layer_that_stands_still(path: Path) -> None:
    tamper(path, "UPDATE cache_state SET offset = offset - 1 WHERE cache = 2 AND frame >= 4")
    (skew,) = findings_of(OffsetSkewCheck, path)
    assert (skew.kind, skew.frame, skew.layer, skew.slots) == ("offset-skew", 4, 2, (13, 14))
    assert skew.count == 4
    assert "Layer 2: the offset is 13 after frame 4 (decode step 2), but 14 in" in skew.message
    (jump,) = findings_of(OffsetJumpCheck, path)
    assert (jump.kind, jump.frame, jump.layer, jump.slots) == ("offset-jump", 4, 2, (13, 13))
    assert jump.count == 1
    assert "moved the offset by 0, from 13 to 13, but writes 1. What was written" in jump.message


def test_some_layers_ahead_of_the_others(path: Path) -> None:
    tamper(path, "UPDATE cache_state SET offset = offset + 2 WHERE cache = 3 AND frame = 5")
    (skew,) = findings_of(OffsetSkewCheck, path)
    assert (skew.layer, skew.slots, skew.count) == (3, (15, 17), 1)
    assert "the offset is 17 after" in skew.message
    assert "but 15 in the other layers" in skew.message


def test_a_layer_without_an_offset_is_skewed(path: Path) -> None:
    tamper(path, "UPDATE cache_state SET offset = NULL WHERE cache = 1 AND frame = 1")
    (skew,) = findings_of(OffsetSkewCheck, path)
    assert (skew.frame, skew.layer) == (1, 1)


def test_all_layers_that_jump_are_one_finding(path: Path) -> None:
    tamper(path, "UPDATE cache_state SET offset = offset + 3 WHERE cache < 4 AND frame >= 3")
    assert findings_of(OffsetSkewCheck, path) == []
    (jump,) = findings_of(OffsetJumpCheck, path)
    assert (jump.frame, jump.layer, jump.slots, jump.count) == (3, 0, (12, 16), 4)
    assert jump.message.startswith("Layers 0 to 3: frame 3 (decode step 1) moved the offset by 4")
    assert "in between were never written" in jump.message


def test_a_prefill_that_moves_by_other_than_its_tokens(path: Path) -> None:
    tamper(path, "UPDATE chunk SET token_count = 5")
    (jump,) = findings_of(OffsetJumpCheck, path)
    assert (jump.frame, jump.phase, jump.slots) == (1, "text", (5, 11))


def test_mimi_that_skips_steps(path: Path) -> None:
    tamper(path, "UPDATE cache_state SET offset = offset + 4 WHERE cache = 4 AND frame >= 4")
    (jump,) = findings_of(OffsetJumpCheck, path)
    assert (jump.layer, jump.slots, jump.frame) == (MIMI, (8, 16), 4)
    assert jump.message.startswith("Mimi decoder layer 0: frame 4")


def test_mimi_s_encoder_counts_without_writing_and_that_is_normal(path: Path) -> None:
    tamper(
        path,
        "UPDATE cache SET name = replace(name, 'decoder', 'encoder') WHERE model = 'mimi'",
        "UPDATE cache_state SET offset = 7 WHERE cache = 4",
    )
    assert findings_of(OffsetJumpCheck, path) == []


def test_a_frame_that_failed_may_have_stopped_anywhere(path: Path) -> None:
    tamper(
        path,
        "UPDATE frame SET problem = 'RuntimeError' WHERE id = 7",
        "UPDATE cache_state SET offset = offset - 1 WHERE frame = 7",
    )
    assert findings_of(OffsetJumpCheck, path) == []


def test_every_chunk_begins_where_its_voice_or_the_chunk_before_ended(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "chunks.kvrec")
    for continues in (None, None, 1):
        run.begin_chunk(continues=continues)
        run.prefill()
        run.decode()
        run.decode(eos=True)
    run.writer.finish("finished")
    assert findings_of(OffsetJumpCheck, run.path) == []
    assert findings_of(OffsetSkewCheck, run.path) == []


def test_mimi_stands_still_in_a_frame_that_was_not_decoded(path: Path) -> None:
    tamper(
        path,
        "DELETE FROM audio WHERE frame = 7",
        "UPDATE cache_state SET offset = offset - 4 WHERE cache = 4 AND frame = 7",
    )
    assert findings_of(OffsetJumpCheck, path) == []


def test_mimi_that_begins_again_within_a_decode(path: Path) -> None:
    """As a fork does that makes a new state inside of `decode_from_latent`."""
    tamper(path, "UPDATE cache_state SET offset = 4 * (frame - 4) WHERE cache = 4 AND frame >= 5")
    (found,) = findings_of(OffsetJumpCheck, path)
    assert (found.kind, found.frame, found.layer) == ("codec-state-reset", 5, MIMI)
    assert "it began again at slot 0. What the frames before left is lost" in found.message
