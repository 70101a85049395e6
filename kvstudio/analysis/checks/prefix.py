"""marker-missing, prefix-order, foreign-state: what a chunk begins with is not what it should be.

The model expects a learned marker, the voice, then the text; and at the first decode step a
start marker, NaN, which FlowLM replaces by a learned vector.
"""

from kvstudio.analysis.finding import Finding, Link, frame_words, slots_words
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.evidence import Prefix
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

FED_WORDS = {
    "latent": "the latent of the frame before",
    "zero": "zeros",
    "nan": "NaN itself, which nothing replaced",
    "other": "some other vector",
}
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
    """The voice and its marker, told from the cache; the start marker, told from what was fed."""

    def __init__(self) -> None:
        self._first: dict[int, Frame] = {}  # of each chunk
        self._unmarked: Finding | None = None

    def look(self, view: FrameView) -> None:
        self._first.setdefault(view.chunk.id, view.frame)
        starts = view.frame.phase == "decode" and view.frame.step == 0
        if starts and self._unmarked is None and view.fed not in (None, "marker"):
            self._unmarked = _unmarked(view.frame, str(view.fed))

    def findings(self, recording: Recording) -> list[Finding]:
        known = recording.evidence.prefixes()
        wrong: dict[str, list[Prefix]] = {}
        for chunk, prefix in known.items():
            kind = _wrong(prefix)
            if kind is not None and chunk in self._first:
                wrong.setdefault(kind, []).append(prefix)
        found = [_finding(recording, kind, each, self._first) for kind, each in wrong.items()]
        return found if self._unmarked is None else [*found, self._unmarked]


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


def _unmarked(frame: Frame, fed: str) -> Finding:
    message = (
        f"{frame_words(frame)[0].upper()}{frame_words(frame)[1:]} should be fed the start marker, "
        f"which is NaN and is replaced by a learned vector inside FlowLM. It was fed "
        f"{FED_WORDS.get(fed, fed)} instead: the beginning is smeared or silent. NaN in the first "
        "input is no fault; look for code that takes it for one."
    )
    link = Link(f"fed {FED_WORDS.get(fed, fed)} instead of the start marker", frame=frame.id)
    return Finding(
        kind="marker-missing",
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        chain=(link,),
    )
