"""nan-laundered: NaN went into an op and finite numbers came out, so nobody will see it again."""

from dataclasses import replace

from kvstudio.analysis.finding import Finding, Link, frame_words, op_link, sentence
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.normal import is_start_marker
from kvstudio.analysis.producers import first_producer, layer_of_op
from kvstudio.analysis.roles import hides_nan
from kvstudio.recording.ops import part_word
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Op
from kvstudio.recording.schema import PARTS

FLOW_LM = PARTS.index("flow_lm")


class LaunderingCheck:
    """Ops that hide a NaN, and latents that FlowLM took for the start marker."""

    def __init__(self) -> None:
        self._found: Finding | None = None
        self._count = 0

    def look(self, view: FrameView) -> None:
        hiding = [op for op in _takers(view) if hides_nan(op.name, op.results)]
        hiding = [op for op in hiding if not _is_start(view, op)]
        marked = view.fed == "marker" and view.frame.step > 0
        self._count += len(hiding) or marked
        if self._found is None and (hiding or marked):
            self._found = _finding(view, hiding[0] if hiding else None, marked)

    def findings(self, recording: Recording) -> list[Finding]:
        return [] if self._found is None else [replace(self._found, count=self._count)]


def _takers(view: FrameView) -> list[Op]:
    recording = view.recording
    return [recording.ops.get(op) for op in recording.evidence.nan_takers(view.frame.id)]


def _is_start(view: FrameView, op: Op) -> bool:
    """The start marker, or what was made of it on its way into FlowLM: see `marker-missing`."""
    first = view.frame.phase == "decode" and view.frame.step == 0
    before_flow_lm = op.part == FLOW_LM and op.module == ""
    return is_start_marker(op, view.frame) or (first and before_flow_lm)


def _before(view: FrameView, op: Op) -> Op | None:
    """The op with which the NaN began, if that was seen in the same frame."""
    producer = first_producer(view.recording, view.frame, part_word(op.part))
    return producer if producer is not None and producer.id < op.id else None


def _finding(view: FrameView, op: Op | None, marked: bool) -> Finding:
    frame = view.frame
    if marked:
        what = (
            "was fed NaN, the latent of the frame before, and FlowLM replaced it by the learned "
            "start vector as if speech began here. The cache stays clean and later latents are "
            "finite, but Mimi has taken the NaN in"
        )
    else:
        assert op is not None
        what = (
            f"took NaN, and {op.name} at {op.site[0]}:{op.site[1]} gave finite numbers. From here "
            "on the NaN cannot be seen, but what is computed from it is wrong"
        )
    producer = None if op is None else _before(view, op)
    look = "Look at the ops before it: which gave NaN first?"
    if producer is not None:
        file, line, _ = producer.site
        look = f"The NaN began with {producer.name} at {file}:{line}: look there."
    message = f"{sentence(frame_words(frame))} {what}. {look}"
    chain = [] if producer is None else [op_link(producer, "takes no NaN and gives one")]
    if op is not None:
        chain.append(op_link(op, "takes NaN and gives finite numbers"))
    if marked:
        chain.append(Link("a NaN latent was replaced by the start vector", frame=frame.id))
    return Finding(
        kind="nan-laundered",
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        layer=None if op is None else layer_of_op(op),
        op=None if op is None else op.name,
        site=None if op is None else f"{op.site[0]}:{op.site[1]}",
        chain=tuple(chain),
    )
