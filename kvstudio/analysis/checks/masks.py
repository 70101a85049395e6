"""mask-future and window-mismatch: queries that saw too late, too far back, or not enough."""

from kvstudio.analysis.attention import expected_window, hidden_by_pad, is_shifted
from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    Slots,
    finding_of,
    frame_words,
    layers_words,
    op_link,
    slots_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.misused import is_harmful
from kvstudio.recording.evidence import Attention
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache


class MaskCheck:
    """What attention ops looked at, against what a query may see."""

    def __init__(self) -> None:
        self._future, self._window = Sightings(), Sightings()
        self._first: dict[tuple[str, int], Attention] = {}

    def look(self, view: FrameView) -> None:
        caches = view.recording.caches
        for row in view.attentions:
            if not 0 <= row.cache < len(caches):  # the file may claim anything
                continue
            cache = caches[row.cache]
            if row.future and not _reads_astray(view, row):
                self._first.setdefault(("future", cache.id), row)
                slots = (row.position + 1, max(row.position + row.queries, row.position + 2))
                self._future.add(cache, view.frame, slots)
            elif not row.future and _wrong_window(view, row, cache):
                self._first.setdefault(("window", cache.id), row)
                self._window.add(cache, view.frame, _where(row, cache))

    def findings(self, recording: Recording) -> list[Finding]:
        return [
            *self._future.findings(lambda group: self._build_future(recording, group)),
            *self._window.findings(lambda group: self._build_window(recording, group)),
        ]

    def _build_future(self, recording: Recording, group: list[Sighting]) -> Finding:
        first = group[0]
        row = self._first["future", first.cache.id]
        op = recording.ops.get(row.op)
        message = (
            f"{layers_words([seen.cache for seen in group])}: in {frame_words(first.frame)} "
            f"queries attended to later slots, {row.future} pairs of {row.queries} queries and "
            f"{row.keys} keys. What comes later leaks into what comes before, which the model was "
            "never trained for. Look at _build_attention_mask: a key must not be later than its "
            "query."
        )
        chain = (
            _link(first, row, f"{row.future} pairs with the key later than the query"),
            op_link(op, f"attends to {row.attended} slots with its last query"),
        )
        return finding_of("mask-future", group, message, chain=chain, op=op)

    def _build_window(self, recording: Recording, group: list[Sighting]) -> Finding:
        first = group[0]
        row = self._first["window", first.cache.id]
        op = recording.ops.get(row.op)
        wrong = _window_words(row, first.cache)
        message = (
            f"{layers_words([seen.cache for seen in group])}: in {frame_words(first.frame)} "
            f"{wrong}. {_follows(row, first.cache)} Look at the mask, and at the keys and values "
            "that it is made for."
        )
        chain = (_link(first, row, wrong), op_link(op, f"is given {row.keys} keys"))
        return finding_of("window-mismatch", group, message, chain=chain, op=op)


def _reads_astray(view: FrameView, row: Attention) -> bool:
    """Whether the later slots are ones that the op should not have read at all."""
    return any(
        misuse.kind in ("unwritten-read", "stale-read")
        and (misuse.op, misuse.cache) == (row.op, row.cache)
        and is_harmful(misuse)
        and not misuse.masked
        for misuse in view.misuses
    )


def _wrong_window(view: FrameView, row: Attention, cache: Cache) -> bool:
    if hidden_by_pad(row, cache):
        return True
    if not (row.outside or row.missing) or is_shifted(row, cache):
        return False
    state = view.states.get(cache.id)
    # A frame past the capacity is dropped, and so cannot be attended to: that is its own finding.
    return state is None or state.capacity >= row.position + row.queries


def _where(row: Attention, cache: Cache) -> Slots:
    """The slots by which the last query's view differs from what it should be."""
    low, high = expected_window(row, cache)
    if row.oldest is None or row.newest is None:
        return low, high
    if row.oldest != low:
        return min(row.oldest, low), max(row.oldest, low)
    return (row.newest + 1, high) if row.newest + 1 < high else (low, high)


def _sees_all(row: Attention, cache: Cache) -> bool:
    """Whether the last query attended to just what it should; then the values are elsewhere."""
    low, high = expected_window(row, cache)
    plain = (row.oldest, row.newest, row.attended) == (low, high - 1, high - low)
    return plain and row.queries == 1 and not row.outside


def _window_words(row: Attention, cache: Cache) -> str:
    low, high = expected_window(row, cache)
    if row.oldest is None or row.newest is None:
        seen = "nothing"
    else:
        seen = f"{row.attended} of {slots_words((row.oldest, row.newest + 1))}"
    if hidden_by_pad(row, cache):
        return (
            f"the state's pad hides {slots_words((0, hidden_by_pad(row, cache)))}, though a run of "
            "one text needs no padding"
        )
    if _sees_all(row, cache):
        return (
            f"{row.missing} pairs of query and key were given the value of another slot, or of "
            "another layer"
        )
    window = "all" if cache.context is None else f"the last {cache.context}"
    return (
        f"the last query attended to {seen}, but should attend to {slots_words((low, high))} "
        f"({window}); {row.missing} pairs are missing, {row.outside} are further apart than that"
    )


def _follows(row: Attention, cache: Cache) -> str:
    if _sees_all(row, cache) and not hidden_by_pad(row, cache):
        return "Attention weighs one moment and hears another."
    if not row.outside:
        return "The model forgets what it is not shown, the voice first if it is the oldest."
    return "The model sees further back than it was trained for."


def _link(seen: Sighting, row: Attention, text: str) -> Link:
    return Link(text, frame=seen.frame.id, cache=seen.cache.id, slot=row.position)
