"""Misused slots, cache by cache: what several layers show in the same frame is one finding.

The words here are those that findings about reads and writes have in common.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from kvstudio.analysis.finding import Finding, Sighting, Sightings, Slots
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.evidence import Misuse, MisuseKind
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, Frame, Op

Build = Callable[[list[Sighting], list[Misuse]], Finding]
FILL_WORDS = {"nan": "NaN", "zero": "zeros", "other": "numbers"}
FOLLOWS = {
    "nan": "so what comes out is NaN.",
    "zero": "and a zero key gets weight like any other, so the sound changes without an error.",
    "other": "which mix with the rest, so the sound changes without an error.",
}


class Misused:
    """Sightings of one kind of misuse, with the rows of the frame that first showed it."""

    def __init__(self) -> None:
        self._seen = Sightings()
        self._rows: dict[int, list[Misuse]] = {}

    def add(self, cache: Cache, frame: Frame, rows: Sequence[Misuse]) -> None:
        """Takes in what one frame did to one cache."""
        self._rows.setdefault(cache.id, list(rows))
        self._seen.add(cache, frame, first_run(rows))

    def __contains__(self, cache: Cache) -> bool:
        return cache.id in self._rows

    def findings(self, build: Build) -> list[Finding]:
        return self._seen.findings(lambda group: build(group, self._rows[group[0].cache.id]))


def misused(view: FrameView, kind: MisuseKind) -> list[tuple[Cache, list[Misuse]]]:
    """The frame's misuses of one kind, by cache."""
    caches = view.recording.caches
    found: dict[int, list[Misuse]] = {}
    for misuse in view.misuses:
        if misuse.kind == kind and 0 <= misuse.cache < len(caches):  # the file may claim anything
            found.setdefault(misuse.cache, []).append(misuse)
    return [(caches[number], rows) for number, rows in sorted(found.items())]


def is_harmful(read: Misuse) -> bool:
    """Whether a read can change what comes out: a mask stops numbers, but not NaN."""
    return not read.masked or read.fill == "nan"


def first_run(rows: Iterable[Misuse]) -> Slots:
    """The first slots without a gap, `[lo, hi)`."""
    ranges = sorted((row.first, row.last) for row in rows)
    first, last = ranges[0]
    for low, high in ranges:
        if low <= last:
            last = max(last, high)
    return first, last


def kv_of(rows: Iterable[Misuse]) -> Literal["K", "V"] | None:
    """`K` or `V` if it was that one alone."""
    known = {row.kv for row in rows}
    return "K" if known == {0} else "V" if known == {1} else None


def heads_words(cache: Cache, rows: Iterable[Misuse]) -> str:
    """Such as `, head 2`; empty if it was every head."""
    rows = list(rows)
    first, last = min(row.head_first for row in rows), max(row.head_last for row in rows)
    if last - first >= cache.heads:
        return ""
    return f", head {first}" if last - first == 1 else f", heads {first} to {last - 1}"


def what_words(cache: Cache, rows: Sequence[Misuse]) -> str:
    """Such as `K and V`, or `K, head 2`."""
    return f"{kv_of(rows) or 'K and V'}{heads_words(cache, rows)}"


def use_words(op: Op, rows: Sequence[Misuse]) -> str:
    """What comes of the op's reading those slots, as a sentence."""
    worst = next((row for row in rows if not row.masked), rows[0])
    where = f"{op.name} at {op.site[0]}:{op.site[1]}"
    holds = FILL_WORDS[worst.fill]
    if not is_harmful(worst):
        return f"{where}: read, masked: harmless as long as it is finite ({holds} here)."
    if worst.masked:
        return f"{where} masks what it read, but 0 x NaN is NaN: what comes out is NaN."
    verb = "computes with" if worst.masked is None else "attends to"
    return f"{where} {verb} what it read: {holds}, {FOLLOWS[worst.fill]}"


def passed_by(recording: Recording, cache: Cache, slot: int, until: Frame) -> Frame | None:
    """The frame that moved the offset past a slot, up to a frame of the same chunk or chain."""
    chain = recording.chain(until.id)
    chunks = {chunk.id for chunk in (chain if cache.model == "flow_lm" else chain[-1:])}
    for frame in recording.frames[: until.id + 1]:
        if frame.chunk in chunks:
            state = recording.cache_states(frame.id).get(cache.id)
            if state is not None and state.offset is not None and state.offset > slot:
                return frame
    return None
