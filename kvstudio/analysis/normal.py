"""What looks alarming in a healthy run and is normal, named in words where a user meets it.

normal_op(op, frame)      # words for an op that deals in NaN as it should, or None
NAN_PAST_THE_OFFSET       # words for a cache's slots
"""

from kvstudio.analysis.roles import MAKERS, NAN, PROBES, base_name
from kvstudio.recording.rows import Cache, Frame, Op

START_MARKER = "start marker: replaced by the learned vector"
NAN_PAST_THE_OFFSET = (
    "NaN at or past the offset: nobody has written these slots yet, and nobody may read them. "
    "That is normal."
)
FILLED_WITH_NAN = "new slots: filled with NaN until they are written"
FRESH_STATE = "state before its first use: filled with NaN until it is written"
PROBE = "asks whether there is NaN"
CODEC_WINDOW = (
    "Mimi looks back {context} slots, {seconds:.1f} s, and no further: slots before that stay "
    "written and are no longer read. That is normal."
)
REPLACERS = frozenset({"where", "nan_to_num", "masked_fill", "masked_fill_", "index_put_"})
FLOW_LM = 2


def normal_op(op: Op, frame: Frame) -> str | None:
    """Why it is normal that this op takes or gives NaN; None if it does not, or is not."""
    if NAN not in (op.nan_in, op.nan_out):
        return None
    if is_start_marker(op, frame):
        return PROBE if base_name(op.name) in PROBES else START_MARKER
    if base_name(op.name) in MAKERS and op.nan_in != NAN:
        return FILLED_WITH_NAN if op.site[2] == "_expand_kv_cache" else FRESH_STATE
    if op.site[2] == "_expand_kv_cache":
        return FILLED_WITH_NAN
    return PROBE if base_name(op.name) in PROBES and op.nan_out != NAN else None


def is_start_marker(op: Op, frame: Frame) -> bool:
    """Whether the NaN that an op takes is the start marker on its way to the learned vector."""
    first = frame.phase == "decode" and frame.step == 0
    replaces = base_name(op.name) in REPLACERS | PROBES
    return first and replaces and op.part == FLOW_LM and op.module == "flow_lm"


def window_words(cache: Cache, slots_per_second: float) -> str | None:
    """What a cache's window means, for a cache that has one."""
    if cache.context is None or slots_per_second <= 0:
        return None
    return CODEC_WINDOW.format(context=cache.context, seconds=cache.context / slots_per_second)
