"""marker-missing, prefix-order, foreign-state: what a chunk begins with is not what it should be.

The model expects a learned marker, the voice, then the text.
"""

from kvstudio.analysis.finding import Finding, Link
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.evidence import Prefix
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

FOREIGN = (
    "{foreign} of the {voice} slots that chunk {chunk} begins with cannot have been made by these "
    "weights: another model made the voice state, or somebody changed it. The voice is not the one "
    "that was asked for, or noise. Make the voice state again with this model."
)
MISSING = (
    "The learned marker, which this model was trained to find before the voice, is not among the "
    "{voice} slots that chunk {chunk} begins with. The voice is not recognised well: it stutters, "
    "or has no words. Look at insert_bos_before_voice, and at what the voice prefill was fed."
)
ORDER = (
    "The learned marker lies in slot {marker}, but belongs in slot 0, and nowhere else: the prefix "
    "of chunk {chunk} is in another order than in training. Look at what the voice prefill was "
    "fed, and in which order."
)
MESSAGES = {"foreign-state": FOREIGN, "marker-missing": MISSING, "prefix-order": ORDER}
LINKS = {
    "foreign-state": "{foreign} of {voice} slots of the voice were made by other weights",
    "marker-missing": "no slot of the voice is the learned marker",
    "prefix-order": "the learned marker lies in slot {marker}",
}


class PrefixCheck:
    """The voice and its marker, told from the cache."""

    def __init__(self) -> None:
        self._first: dict[int, Frame] = {}  # of each chunk whose voice lies in the cache
        self._chunk = -1

    def look(self, view: FrameView) -> None:
        if view.chunk.id != self._chunk:
            self._chunk = view.chunk.id
            if not view.keeps_elsewhere("flow_lm"):
                self._first[view.chunk.id] = view.frame

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
    numbers = {
        "chunk": prefix.chunk,
        "voice": prefix.voice_slots,
        "foreign": prefix.foreign_slots,
        "marker": prefix.marker_slot,
    }
    slot = prefix.marker_slot or 0
    foreign = kind == "foreign-state"
    caches = [cache.id for cache in recording.caches if cache.model == "flow_lm"]
    link = Link(
        LINKS[kind].format(**numbers),
        frame=frame.id,
        cache=caches[0] if caches else None,
        slot=slot,
    )
    return Finding(
        kind=kind,
        severity="error",
        message=MESSAGES[kind].format(**numbers),
        frame=frame.id,
        phase=frame.phase,
        slots=(0, max(1, prefix.voice_slots)) if foreign else (slot, slot + 1),
        chain=(link,),
        count=len(prefixes),
    )
