"""marker-missing, prefix-order, foreign-state: what a chunk begins with is not what it should be.

The model expects a learned marker, the voice, then the text.
"""

from kvstudio.analysis.finding import Finding, Link, slots_words
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.evidence import Prefix
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

FOREIGN = (
    "these weights cannot have made them: another model made the voice state, or somebody changed "
    "it. The voice is not the one that was asked for, or noise. Make the voice state again with "
    "this model."
)
MISSING = (
    "the learned marker that this model was trained to find before the voice is not there. The "
    "voice is not recognised well: stutter, no words. Look at insert_bos_before_voice, and at what "
    "the voice prefill was fed."
)
ORDER = (
    "the learned marker is not in slot 0, where the model expects it, so the prefix is in another "
    "order than in training. Look at what the voice prefill was fed, and in which order."
)


class PrefixCheck:
    """The voice and its marker, told from the cache."""

    def __init__(self) -> None:
        self._first: dict[int, Frame] = {}  # of each chunk

    def look(self, view: FrameView) -> None:
        self._first.setdefault(view.chunk.id, view.frame)

    def findings(self, recording: Recording) -> list[Finding]:
        known = recording.evidence.prefixes()
        wrong: dict[str, list[Prefix]] = {}
        for chunk, prefix in known.items():
            kind = _wrong(prefix)
            if kind is not None and chunk in self._first:
                wrong.setdefault(kind, []).append(prefix)
        return [_finding(recording, kind, each, self._first) for kind, each in wrong.items()]


def _wrong(prefix: Prefix) -> str | None:
    if prefix.foreign_slots:
        return "foreign-state"
    if prefix.marker_slot:
        return "prefix-order"
    return "marker-missing" if prefix.marker_wanted and prefix.marker_slot is None else None


def _finding(
    recording: Recording, kind: str, prefixes: list[Prefix], firsts: dict[int, Frame]
) -> Finding:
    prefix = prefixes[0]
    frame = firsts[prefix.chunk]
    slots = (0, max(1, prefix.voice_slots)) if kind == "foreign-state" else (0, 1)
    if kind == "prefix-order" and prefix.marker_slot is not None:
        slots = (prefix.marker_slot, prefix.marker_slot + 1)
    what = {
        "foreign-state": f"{prefix.foreign_slots} of {prefix.voice_slots} slots of the voice: "
        + FOREIGN,
        "prefix-order": f"The marker was found in {slots_words(slots)}: " + ORDER,
        "marker-missing": f"{prefix.voice_slots} slots of the voice: " + MISSING,
    }[kind]
    caches = [cache.id for cache in recording.caches if cache.model == "flow_lm"]
    link = Link(
        f"chunk {prefix.chunk} begins with {prefix.voice_slots} slots: {kind}",
        frame=frame.id,
        cache=caches[0] if caches else None,
        slot=slots[0],
    )
    return Finding(
        kind=kind,
        severity="error",
        message=what,
        frame=frame.id,
        phase=frame.phase,
        slots=slots,
        chain=(link,),
        count=len(prefixes),
    )
