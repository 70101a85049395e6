"""The tracers of one frame: one a thread and part, gathered into rows when the frame is done."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from kvstudio.engine.judging import Judged, judge
from kvstudio.engine.op_rows import op_rows, short_path, source_files
from kvstudio.engine.raw_calls import RawCall
from kvstudio.engine.shadow import ShadowMemory, Watched
from kvstudio.engine.tracer import OpKnowledge, OpTracer
from kvstudio.recording.evidence import Attention, Misuse
from kvstudio.recording.rows import Op
from kvstudio.recording.spec import TraceLevel
from kvstudio.recording.writer import RecordingWriter


@dataclass
class Traced:
    """What one thread did in one part of a frame; judged before the shadow is used again."""

    part: int
    tracer: OpTracer
    memory: ShadowMemory | None
    judged: Judged | None = None


@dataclass
class Evidence:
    """The ops of a frame, and what was found of them; `op` is an index among `ops`."""

    ops: list[Op] = field(default_factory=list)
    misuses: list[Misuse] = field(default_factory=list)
    attentions: list[Attention] = field(default_factory=list)


class Tracing:
    """Collects ops between two frames; with a trace level below `full` it sees none.

    Attributes:
        frame: the id of the frame in the making.
    """

    def __init__(self, knowledge: OpKnowledge, level: TraceLevel, began_ns: int) -> None:
        self._knowledge = knowledge
        self._full = level == "full"
        self._began_ns = began_ns
        self._traced: list[Traced] = []
        self.frame = 0
        self._known_sources: set[str] = set()
        self._lock = threading.Lock()  # a Mimi thread may judge while another takes

    @contextmanager
    def part(self, number: int, watched: Watched | None = None) -> Iterator[None]:
        """Traces what this thread does while entered, as part `number` of the frame."""
        if not self._full:
            yield
            return
        self._judge_all()
        tracer = OpTracer(self._knowledge, {} if watched is None else watched.bind())
        try:
            with tracer:
                yield
        finally:
            tracer.ropes = tracer.ropes.copy()  # the thread's own go on
            memory = None if watched is None else watched.memory
            with self._lock:
                self._traced.append(Traced(number, tracer, memory))

    def written(self, part: int) -> dict[int, list[tuple[int, int]]]:
        """Slot ranges that the ops of a part wrote, by cache id."""
        self._judge_all()
        ranges: dict[int, list[tuple[int, int]]] = {}
        for traced in self._traced:
            touches = traced.judged.touches if traced.judged and traced.part == part else {}
            for touch in (each for own in touches.values() for each in own):
                if touch.write and touch.last > touch.first:
                    ranges.setdefault(touch.cache, []).append((touch.first, touch.last))
        return ranges

    def calls(self, part: int) -> list[RawCall]:
        """The ops of a part so far."""
        self._judge_all()
        own = (each.judged for each in self._traced if each.part == part)
        return [call for judged in own if judged is not None for call in judged.calls]

    def adopt(self, other: "Tracing") -> None:
        """Takes over what another tracing saw, such as that of the voice prefill."""
        if self._full:
            other._judge_all()
            self._traced += other._traced

    def take(self, writer: RecordingWriter) -> Evidence:
        """Everything since the last call, a frame's worth; source files go to the recording."""
        self._judge_all()
        with self._lock:
            traced, self._traced = self._traced, []
        self.frame += 1
        evidence = Evidence()
        parts = dict.fromkeys(each.part for each in traced)
        for each in (each for part in parts for each in traced if each.part == part):
            self._add_sources(each.judged, writer)
            self._add(each, evidence)
        return evidence

    # ---- private ------------------------------------------------------------------------------

    def _judge_all(self) -> None:
        """In the order in which it happened: what is judged later finds what was written before."""
        with self._lock:
            for traced in self._traced:
                if traced.judged is None:
                    traced.judged = judge(traced.tracer, traced.memory, self.frame)

    def _add(self, traced: Traced, evidence: Evidence) -> None:
        judged, first = traced.judged, len(evidence.ops)
        assert judged is not None
        evidence.ops += op_rows(judged, traced.part, traced.tracer.thread, self._began_ns)
        evidence.misuses += [replace(each, op=each.op + first) for each in judged.misuses]
        evidence.attentions += [replace(each, op=each.op + first) for each in judged.attentions]

    def _add_sources(self, judged: Judged | None, writer: RecordingWriter) -> None:
        assert judged is not None
        for file in source_files(judged) - self._known_sources:
            self._known_sources.add(file)
            text = _read(file)
            if text is not None:
                writer.add_source(short_path(file), text)


def _read(file: str) -> str | None:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
