"""Where a NaN begins: the first op that took none and gave one, and the layer that ran it."""

import re

from kvstudio.recording.ops import part_word
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame, Op
from kvstudio.recording.schema import PARTS


def first_producer(recording: Recording, frame: Frame, model: str) -> Op | None:
    """The first op of a model that took no NaN and gave one, if ops were recorded."""
    if model not in PARTS:  # the file may claim anything
        return None
    number = recording.evidence.nan_producer(frame.id, PARTS.index(model))
    return None if number is None else recording.ops.get(number)


def layer_of_op(op: Op) -> int | str | None:
    """The FlowLM layer that ran an op, or the module of the codec."""
    if part_word(op.part) == "mimi":
        return op.module
    within = re.match(r"flow_lm\.transformer\.layers\.(\d+)", op.module)
    return None if within is None else int(within[1])
