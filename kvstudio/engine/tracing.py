"""The tracers of one frame: one a thread and part, gathered into rows when the frame is done."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kvstudio.engine.op_rows import WatchedCache, op_rows, short_path, source_files
from kvstudio.engine.tracer import OpKnowledge, OpTracer
from kvstudio.recording.rows import Op
from kvstudio.recording.spec import TraceLevel
from kvstudio.recording.writer import RecordingWriter

INDEXED_WRITE = re.compile(r"aten\.(index_|_index_put|scatter|masked_|put_)")
Watched = tuple[Mapping[object, str], Mapping[str, WatchedCache]]


class Tracing:
    """Collects ops between two frames; with a trace level below `full` it sees none."""

    def __init__(self, knowledge: OpKnowledge, level: TraceLevel, began_ns: int) -> None:
        self._knowledge = knowledge
        self._full = level == "full"
        self._began_ns = began_ns
        self._traced: list[tuple[int, OpTracer, Mapping[str, WatchedCache]]] = []
        self._rows: dict[int, list[Op]] = {}
        self._known_sources: set[str] = set()

    @contextmanager
    def part(self, number: int, watched: Watched = ({}, {})) -> Iterator[None]:
        """Traces what this thread does while entered, as part `number` of the frame."""
        if not self._full:
            yield
            return
        tracer = OpTracer(self._knowledge, watched[0])
        try:
            with tracer:
                yield
        finally:
            self._traced.append((number, tracer, watched[1]))

    def written(self, part: int) -> dict[int, list[tuple[int, int]]]:
        """Slot ranges that the ops of a part wrote, by cache id.

        An indexed write touches what it is given, which is the whole cache, so for it the changed
        content decides which slots were written.
        """
        ranges: dict[int, list[tuple[int, int]]] = {}
        for op in self._rows_of(part):
            if INDEXED_WRITE.match(op.name):
                continue
            for touch in op.touches:
                if touch.write and touch.last > touch.first:
                    ranges.setdefault(touch.cache, []).append((touch.first, touch.last))
        return ranges

    def adopt(self, other: "Tracing") -> None:
        """Takes over what another tracing saw, such as that of the voice prefill."""
        if self._full:
            self._traced += other._traced

    def take(self, writer: RecordingWriter) -> list[Op]:
        """The rows of everything since the last call; source files go to the recording."""
        for _, tracer, _ in self._traced:
            for file in source_files(tracer) - self._known_sources:
                self._known_sources.add(file)
                text = _read(file)
                if text is not None:
                    writer.add_source(short_path(file), text)
        parts = dict.fromkeys(number for number, _, _ in self._traced)
        ops = [op for number in parts for op in self._rows_of(number)]
        self._traced.clear()
        self._rows.clear()
        return ops

    def _rows_of(self, part: int) -> list[Op]:
        if part not in self._rows:
            self._rows[part] = [
                op
                for number, tracer, caches in self._traced
                if number == part
                for op in op_rows(tracer, number, caches, self._began_ns)
            ]
        return self._rows[part]


def _read(file: str) -> str | None:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
