"""position-mismatch: slot, rotary position and mask position of a write that do not agree."""

from functools import partial

from kvstudio.analysis.attention import is_shifted, mask_position
from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    finding_of,
    frame_words,
    layers_words,
    op_link,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.evidence import Attention
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache

FOLLOWS = {
    "slot": (
        "The frame's K and V are not where later frames look for them, and what was there is gone. "
        "Look at the slice that the cache is written to."
    ),
    "rope": (
        "Keys are turned by the wrong angle, so attention sees the past at wrong distances. "
        "Look at rope_offset."
    ),
    "mask": (
        "The newest slots are hidden from the frame. "
        "Look at the offset that _build_attention_mask is given."
    ),
}


class PositionCheck:
    """One finding for each group of layers that first disagree in the same frame and way."""

    def __init__(self) -> None:
        self._seen = {what: Sightings() for what in FOLLOWS}
        self._first: dict[tuple[str, int], tuple[Attention, str]] = {}  # and what led to it
        self._before: dict[int, Attention] = {}

    def look(self, view: FrameView) -> None:
        caches = view.recording.caches
        for row in view.attentions:
            if not 0 <= row.cache < len(caches):  # the file may claim anything
                continue
            what = _wrong(row, caches[row.cache], wrote=_wrote(view, row))
            if what is not None:
                stuck = self._stuck(row) if what == "rope" else ""
                self._first.setdefault((what, row.cache), (row, stuck))
                slots = (row.position, row.position + row.queries)
                self._seen[what].add(caches[row.cache], view.frame, slots)
            self._before[row.cache] = row

    def findings(self, recording: Recording) -> list[Finding]:
        found: list[Finding] = []
        for what, seen in self._seen.items():
            found += seen.findings(partial(self._build, recording, what))
        return found

    def _stuck(self, row: Attention) -> str:
        """Words if the rotary position did not move though the offset did."""
        before = self._before.get(row.cache)
        moved = before is not None and before.position != row.position
        stays = before is not None and before.rope == row.rope
        return "; it does not move from frame to frame" if moved and stays else ""

    def _build(self, recording: Recording, what: str, group: list[Sighting]) -> Finding:
        first = group[0]
        row, stuck = self._first[what, first.cache.id]
        op = recording.ops.get(row.op)
        layers = layers_words([seen.cache for seen in group])
        numbers = _numbers_words(row, first.cache)
        message = (
            f"{layers}: {frame_words(first.frame)} found the offset {row.position}, but its "
            f"positions disagree: {numbers}{stuck}. {FOLLOWS[what]}"
        )
        chain = (
            Link(
                f"offset {row.position}: {numbers}",
                frame=first.frame.id,
                cache=first.cache.id,
                slot=row.slot if row.slot is not None else row.position,
            ),
            op_link(op, "looks at the cache from there"),
        )
        return finding_of("position-mismatch", group, message, chain=chain, op=op)


def _wrote(view: FrameView, row: Attention) -> bool:
    """Whether the frame wrote the slot where it belongs, whatever else it wrote."""
    writes = view.writes.get(row.cache, ())
    return any(write.first <= row.position < write.last for write in writes)


def _wrong(row: Attention, cache: Cache, *, wrote: bool) -> str | None:
    """Which of the three numbers is not the offset; the slot first, since the others follow.

    If the slot at the offset was written (`wrote`), others that were too are an overwrite.
    """
    if row.slot is not None and row.slot != row.position and not wrote:
        return "slot"
    if row.rope is not None and row.rope != row.position:
        return "rope"
    return "mask" if is_shifted(row, cache) else None


def _numbers_words(row: Attention, cache: Cache) -> str:
    mask = mask_position(row, cache)
    rope = "not seen" if row.rope is None else str(row.rope)
    slot = "none" if row.slot is None else str(row.slot)
    seen = "not told" if mask is None else str(mask)
    return f"slot {slot}, RoPE position {rope}, mask position {seen}"
