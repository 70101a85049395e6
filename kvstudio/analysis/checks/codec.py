"""codec-state-stale and codec-state-reset: Mimi's state is not what its last frame left.

A chunk begins with a fresh state, and every frame goes on with what the one before left: the KV
caches, the samples that convolutions still need (`previous`), the tails they still owe (`partial`).
"""

from dataclasses import dataclass

from kvstudio.analysis.finding import Finding, Link, frame_words, sentence
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.surprises import stepped_by_others
from kvstudio.recording.evidence import Surprise
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

MOST_NAMED = 4
KINDS = {
    "fresh": "codec-state-reset",
    "not fresh": "codec-state-stale",
    "changed": "codec-state-stale",
    "unread": "codec-state-reset",
    "kept": "codec-state-stale",
}
WORDS = {
    "fresh": (
        "as if just made, in the middle of a chunk. What the frame before left is lost: a click, "
        "and a blur until the window has filled again. Look at who makes a new Mimi state."
    ),
    "not fresh": (
        "not fresh, though a chunk begins here. The end of an earlier clip is heard in this one, "
        "and convolutions are out of step. Look at who resets the Mimi state, and what it leaves "
        "out: offset, cache, previous, partial, first."
    ),
    "changed": (
        "not what the frame before had left. Somebody outside the model changed it: the sound "
        "breaks at the join of the frames. Look for another owner of the Mimi state."
    ),
    "unread": (
        "and wrote over it before it had read it. What the frame before left is lost: a click at "
        "the join of the frames, or a rasp if it is every frame. Look at what the convolution does "
        "to its state before it uses it."
    ),
    "kept": (
        "and left it as it was, though it decoded another latent. The next frame goes on with what "
        "is a frame too old: a click at the join of the frames, or a rasp if it is every frame. "
        "Look at where the convolution stores its state."
    ),
}
LINKS = {
    "fresh": "found {} fresh",
    "not fresh": "found {} not fresh",
    "changed": "found {} changed",
    "unread": "wrote over {} unread",
    "kept": "left {} as it was",
}


@dataclass
class _Seen:
    frame: Frame
    rows: list[Surprise]
    count: int = 0


class CodecStateCheck:
    """Entries of Mimi's state that a frame found otherwise than it should, counted by kind."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def look(self, view: FrameView) -> None:
        if stepped_by_others(view, "mimi"):
            return  # that is another owner of the state
        found: dict[str, list[Surprise]] = {}
        for each in view.surprises:
            if each.model == "mimi" and each.found in KINDS:
                found.setdefault(KINDS[each.found], []).append(each)
        for kind, rows in found.items():
            rows.sort(key=lambda row: row.entry.startswith("encoder"))  # it has no part in decoding
            self._seen.setdefault(kind, _Seen(view.frame, rows)).count += len(rows)

    def findings(self, recording: Recording) -> list[Finding]:
        return [_finding(recording, kind, seen) for kind, seen in self._seen.items()]


def _finding(recording: Recording, kind: str, seen: _Seen) -> Finding:
    first, frame = seen.rows[0], seen.frame
    caches = {cache.name: cache.id for cache in recording.caches if cache.model == "mimi"}
    slots = None if first.first is None or first.last is None else (first.first, first.last)
    names = _names(seen.rows)
    message = (
        f"{sentence(frame_words(frame))} found the codec's state "
        f"{WORDS[first.found]} Entries: {names}."
    )
    link = Link(
        f"{frame_words(frame)} {LINKS[first.found].format(names)}",
        frame=frame.id,
        cache=caches.get(first.entry) if first.key == "cache" else None,
        slot=None if slots is None else slots[0],
    )
    return Finding(
        kind=kind,
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        layer=first.entry,
        slots=slots,
        chain=(link,),
        count=seen.count,
        cache=link.cache,
    )


def _names(rows: list[Surprise]) -> str:
    names = [f"{row.entry}.{row.key}" for row in rows]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
