"""One cause, one finding: what follows from a finding becomes links of its chain.

Every check reports what it sees for itself, so an offset that was set too large is seen as an
offset-jump, then as a hole, an unwritten-read, NaN in the cache and NaN in the audio. Here the
offset-jump is kept, and its chain tells the rest, as far as the second of audio.

A finding follows from an earlier one (or one of the same frame that is nearer to the cause) if
`FOLLOWS` allows for it and both are about the same part of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kvstudio.analysis.finding import Finding, Link
from kvstudio.analysis.trail import Trail
from kvstudio.recording.reader import Recording

ORDER = (
    "device-mismatch",
    "dtype-mismatch",
    "shared-state",
    "foreign-state",
    "prefix-order",
    "marker-missing",
    "expansion-corrupt",
    "codec-state-reset",
    "codec-state-stale",
    "codec-step-mismatch",
    "offset-skew",
    "offset-jump",
    "position-mismatch",
    "dropped-write",
    "capacity-exceeded",
    "overwrite",
    "hole",
    "unwritten-read",
    "stale-read",
    "mask-future",
    "window-mismatch",
    "nan-produced",
    "nan-laundered",
    "early-eos",
    "length-cut",
    "no-eos",
    "audio-nan",
    "audio-clipped",
    "audio-click",
    "audio-silence",
)
"""The kinds, those nearest to the cause first: of two in one frame the first is the origin."""

HEARD = {"audio-nan", "audio-clipped", "audio-click", "audio-silence"}
ENDED = {"early-eos", "length-cut", "no-eos"}
NUMBERS = {"nan-produced", "nan-laundered", *ENDED, *HEARD}
ATTENDED = {"unwritten-read", "stale-read", "mask-future", "window-mismatch", *NUMBERS}
WRITTEN = {"overwrite", "hole", "position-mismatch", *ATTENDED}
COUNTED = {"offset-skew", "offset-jump", "codec-step-mismatch", "dropped-write", *WRITTEN}

SPREADING = {"foreign-state", *NUMBERS}
"""What is found in one layer may follow from what happened in another."""

FOLLOWS: dict[str, set[str]] = {
    # What was moved or converted is another tensor, so its values may have been changed too.
    "device-mismatch": {"offset-skew", "offset-jump", "overwrite", "hole", *NUMBERS},
    "dtype-mismatch": {"dtype-mismatch", "marker-missing", "overwrite", *NUMBERS},
    # Somebody else wrote, counted on or reset between two steps.
    "shared-state": {"capacity-exceeded", *COUNTED},
    "foreign-state": {"prefix-order", "marker-missing", *NUMBERS},
    "prefix-order": {"marker-missing", *NUMBERS},
    "marker-missing": {"prefix-order", *NUMBERS},
    "expansion-corrupt": {"dropped-write", "capacity-exceeded", "foreign-state", *WRITTEN},
    "codec-state-reset": {"codec-state-reset", "codec-state-stale", *COUNTED},
    "codec-state-stale": {"codec-state-reset", *COUNTED},
    "codec-step-mismatch": COUNTED,
    "offset-skew": {"capacity-exceeded", *COUNTED},
    "offset-jump": {"capacity-exceeded", *COUNTED},
    # A write that went elsewhere leaves a hole and hits what was there.
    "position-mismatch": {"dropped-write", *WRITTEN},
    # The attention of that step finds fewer keys than its position says.
    "dropped-write": WRITTEN,
    "capacity-exceeded": {"offset-skew", "offset-jump", "hole", *NUMBERS},
    # What was written in the wrong place is missing in the right one.
    "overwrite": {
        "hole",
        "unwritten-read",
        "stale-read",
        "marker-missing",
        "foreign-state",
        *NUMBERS,
    },
    "hole": {"foreign-state", "prefix-order", "marker-missing", *ATTENDED},
    "unwritten-read": {"mask-future", "window-mismatch", *NUMBERS},
    "stale-read": {"mask-future", "window-mismatch", *NUMBERS},
    # A mask that is wrong one way is often wrong the other way a few frames on.
    "mask-future": {"window-mismatch", *NUMBERS},
    "window-mismatch": {"mask-future", *NUMBERS},
    "nan-produced": NUMBERS,
    "nan-laundered": NUMBERS,
    "early-eos": HEARD,
    "length-cut": HEARD,
    "no-eos": {"no-eos", *HEARD},
    "audio-nan": HEARD,
    "audio-clipped": HEARD,
    "audio-click": HEARD,
}
"""Which kinds can follow from which, directly; what follows from those does too."""

LOST = {"dropped-write", "capacity-exceeded"}
MIMI_ONLY = {"codec-state-reset", "codec-state-stale", "codec-step-mismatch"}


@dataclass
class Origin:
    """A finding, and the findings that follow from it in the order in which they came."""

    finding: Finding
    following: list[Finding] = field(default_factory=list)


def fold(recording: Recording, findings: Sequence[Finding], trail: Trail) -> list[Finding]:
    """The origins among `findings`, in the order of their frames, with whole chains."""
    origins: list[Origin] = []

    def when(finding: Finding) -> tuple[int, float, bool]:
        frame = -1 if finding.frame is None else finding.frame
        return (frame, _distance(finding), _model(recording, finding) == "mimi")

    for finding in sorted(findings, key=when):
        origin = next((each for each in origins if _belongs(recording, finding, each)), None)
        if origin is None:
            origins.append(Origin(finding))
        else:
            origin.following.append(finding)
    return sorted((_told(recording, origin, trail) for origin in origins), key=when)


def _distance(finding: Finding) -> float:
    """How far from the cause its kind is; see `ORDER`."""
    if finding.kind == "foreign-state" and finding.phase == "decode":
        return ORDER.index("overwrite") + 0.5  # not the voice that was loaded, but what came in
    if finding.kind in {"hole", "overwrite"} and finding.phase == "voice":
        return ORDER.index("foreign-state") - 0.5  # such a slot looks like a wrong one, too
    return ORDER.index(finding.kind) if finding.kind in ORDER else len(ORDER)


def _belongs(recording: Recording, finding: Finding, origin: Origin) -> bool:
    return any(_follows(recording, finding, each) for each in (origin.finding, *origin.following))


def _follows(recording: Recording, finding: Finding, cause: Finding) -> bool:
    if finding.kind not in FOLLOWS.get(cause.kind, ()):
        return False
    if cause.kind == "expansion-corrupt" and finding.kind in LOST:
        return _names(finding, cause)
    of, by = _model(recording, finding), _model(recording, cause)
    if of == "flow_lm" and by == "mimi":
        return False  # nothing goes back from the codec to the language model
    if finding.kind in SPREADING:
        return True
    # Numbers spread to every layer; offsets and slots are each layer's own.
    kinds = {finding.kind, cause.kind}
    shared = not (finding.caches and cause.caches) or set(finding.caches) & set(cause.caches)
    return of == by and (bool(shared) or kinds == {"offset-skew", "offset-jump"})


def _names(finding: Finding, cause: Finding) -> bool:
    """Whether what was done is known by what came of it.

    A cache that was made too small is known by the slots that were lost, and slots that were filled
    with NaN by the NaN.
    """
    if finding.slots is None or cause.slots is None:
        return False
    if cause.kind == "expansion-corrupt":
        return finding.kind in LOST and finding.slots[0] <= cause.slots[0] < finding.slots[1]
    here = (finding.frame, finding.cache) == (cause.frame, cause.cache)
    overlap = finding.slots[0] < cause.slots[1] and cause.slots[0] < finding.slots[1]
    return (cause.kind, finding.kind) == ("overwrite", "nan-produced") and here and overlap


def _model(recording: Recording, finding: Finding) -> str:
    """`flow_lm` or `mimi`: the part of the model that a finding is about."""
    if finding.cache is not None and 0 <= finding.cache < len(recording.caches):
        return recording.caches[finding.cache].model
    codec = finding.kind in MIMI_ONLY | HEARD or isinstance(finding.layer, str)
    return "mimi" if codec else "flow_lm"


def _told(recording: Recording, origin: Origin, trail: Trail) -> Finding:
    """The finding of an origin, with the chain from it to what is heard."""
    named = (each for each in origin.following if _names(each, origin.finding))
    head = next(named, origin.finding)
    chain = list(origin.finding.chain)
    for each in origin.following:
        if each.kind not in ENDED | HEARD:
            chain += each.chain if each is head else _links(each)
    ends = ENDED | HEARD
    if head.kind not in ends and _model(recording, head) == "flow_lm":
        chain += trail.latent(head)
    for each in origin.following:
        if each.kind in ends:
            chain += _links(each)
    if head.kind not in ends and not any(each.kind in HEARD for each in origin.following):
        chain += trail.audio(head)
    told: dict[str, Link] = {}
    for link in chain:
        told.setdefault(link.text, link)  # of the same words those nearest to the cause
    return replace(head, chain=tuple(told.values()))


def _links(finding: Finding) -> list[Link]:
    """The chain of a finding as part of another one; it begins with its kind."""
    chain = list(finding.chain) or [_own_link(finding)]
    return [replace(chain[0], text=f"{finding.kind}: {chain[0].text}"), *chain[1:]]


def _own_link(finding: Finding) -> Link:
    slot = None if finding.slots is None else finding.slots[0]
    words = finding.message.partition(". ")[0].rstrip(".")
    return Link(words, frame=finding.frame, cache=finding.cache, slot=slot)
