"""What looks alarming and is normal has a name."""

from dataclasses import replace

import pytest

from kvstudio.analysis import normal
from kvstudio.analysis.normal import normal_op, window_words
from kvstudio.recording.rows import Cache, Frame, Op

FIRST = Frame(2, 0, "decode", 0, None, None, False, 0, 0, 0, 0)
WHERE = Op(
    name="aten.where.self",
    part=2,
    module="flow_lm",
    site=("pocket_tts/models/flow_lm.py", 158, "forward"),
    arguments="bool[1,1,32], f32[32], f32[1,1,32]",
    results="f32[1,1,32]",
    thread="Thread-1",
    began_ns=0,
    took_ns=1,
    nan_in=1,
    nan_out=0,
)
EXPAND = ("pocket_tts/models/tts_model.py", 483, "_expand_kv_cache")


def test_the_start_marker_is_named_at_the_first_decode_step_alone() -> None:
    assert normal_op(WHERE, FIRST) == "start marker: replaced by the learned vector"
    later = replace(FIRST, id=3, step=1)
    assert normal_op(WHERE, later) is None


@pytest.mark.parametrize(
    "other",
    [{"module": "flow_lm.transformer.layers.0"}, {"part": 3}, {"name": "aten.mul.Tensor"}],
)
def test_what_else_happens_at_the_first_step_is_no_start_marker(other: dict[str, object]) -> None:
    assert normal_op(WHERE._replace(**other), FIRST) is None  # type: ignore[arg-type]


def test_new_slots_are_filled_with_nan_on_purpose() -> None:
    text = replace(FIRST, phase="text", step=-1)
    full = WHERE._replace(name="aten.full.default", nan_in=0, nan_out=1, site=EXPAND, part=1)
    assert normal_op(full, text) == normal.FILLED_WITH_NAN
    assert normal_op(full._replace(name="aten.slice.Tensor", nan_in=1), text) is not None
    state = full._replace(site=("pocket_tts/modules/attention.py", 65, "init_state"))
    assert normal_op(state, text) == normal.FRESH_STATE


def test_a_question_about_nan_is_normal_and_an_op_without_nan_needs_no_name() -> None:
    later = replace(FIRST, step=7)
    assert normal_op(WHERE._replace(name="aten.isnan.default"), later) == normal.PROBE
    assert normal_op(WHERE._replace(nan_in=0), FIRST) is None


def test_the_window_of_the_codec_in_seconds() -> None:
    mimi = Cache(6, "mimi", "x", 0, 1, 4, 32, 250, "float32", "cpu")
    assert window_words(mimi, 200.0) == (
        "Mimi looks back 250 slots, 1.2 s, and no further: slots before that stay written and are "
        "no longer read. That is normal."
    )
    assert window_words(replace(mimi, context=None), 200.0) is None
