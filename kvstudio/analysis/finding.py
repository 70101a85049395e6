"""What a check reports: what is wrong, where, with the evidence and the next thing to look at."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from kvstudio.recording.evidence import FindingRow
from kvstudio.recording.opening import reading
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, Chunk, Frame, Op, Phase
from kvstudio.recording.typed import misfit

Severity = Literal["error", "warning"]
Slots = tuple[int, int]
BEYOND = 2**31  # no number of a finding comes near it, and whoever paints it can hold it


@dataclass(frozen=True)
class Link:
    """One step on the way from an origin to what is heard, with what the window can jump to.

    In a file by a stranger the ids may be of nothing; whoever follows them looks first.

    Attributes:
        op: id of an op in the recording.
        cache: id of a cache.
        second: of the audio.
    """

    text: str
    frame: int | None = None
    op: int | None = None
    cache: int | None = None
    slot: int | None = None
    second: float | None = None


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong; occurrences of the same thing are counted, the first is described.

    Attributes:
        kind: a stable identifier, such as `dropped-write`.
        layer: number of a FlowLM layer, or the state entry of a codec layer.
        kv: `K`, `V`, or None for both.
        slots: `[lo, hi)`.
        op, site: the op that did it and its `file:line`, where known.
        message: what, where, what follows from it, and what to look at next.
        chain: the way from the origin to what is heard.
        cache: id of the cache that `layer` names.
        caches: ids of every cache that shows the same; `cache` is the first of them.
    """

    kind: str
    severity: Severity
    message: str
    frame: int | None = None
    phase: Phase | None = None
    layer: int | str | None = None
    kv: Literal["K", "V"] | None = None
    slots: Slots | None = None
    op: str | None = None
    site: str | None = None
    chain: tuple[Link, ...] = ()
    count: int = 1
    cache: int | None = None
    caches: tuple[int, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "severity": self.severity,
            "frame": self.frame,
            "phase": self.phase,
            "layer": self.layer,
            "kv": self.kv,
            "slots": None if self.slots is None else list(self.slots),
            "op": self.op,
            "site": self.site,
            "message": self.message,
            "chain": [link.text for link in self.chain],
            "count": self.count,
        }

    def to_row(self) -> FindingRow:
        first, last = (None, None) if self.slots is None else self.slots
        return FindingRow(
            kind=self.kind,
            severity=self.severity,
            message=self.message,
            frame=self.frame,
            phase=self.phase,
            layer=None if self.layer is None else str(self.layer),
            cache=self.cache,
            caches=json.dumps(self.caches),
            kv=self.kv,
            first=first,
            last=last,
            op=self.op,
            site=self.site,
            count=self.count,
            links=json.dumps([_stored(link) for link in self.chain]),
        )

    @classmethod
    def from_row(cls, row: FindingRow) -> "Finding":
        """Raises ValueError: what is stored is no finding."""
        slots = None if row.first is None or row.last is None else (row.first, row.last)
        layer = int(row.layer) if row.layer is not None and row.layer.isdecimal() else row.layer
        told: dict[str, Any] = {
            name: getattr(row, name)
            for name in ("kind", "severity", "message", "frame", "phase", "kv", "op", "site")
        }
        told |= {"layer": layer, "slots": slots, "count": row.count, "cache": row.cache}
        told["caches"] = json.loads(row.caches)
        wrong = misfit(cls, told)
        if slots is not None and not 0 <= slots[0] <= slots[1] < BEYOND:
            wrong = f"slots are {slots[0]} to {slots[1]}"
        if wrong is not None:
            raise ValueError(f"in a finding {wrong}")
        return cls(**{**told, "caches": tuple(told["caches"])}, chain=_links(row.links))


def stored_findings(recording: Recording) -> list[Finding]:
    """What the engine's checks had found after the last frame.

    Raises:
        DamagedRecording: what is stored are no findings.
    """
    rows = recording.evidence.findings()
    with reading(recording.path):
        return [Finding.from_row(row) for row in rows]


def _stored(link: Link) -> dict[str, object]:
    return {name: value for name, value in asdict(link).items() if value is not None}


def _links(text: str) -> tuple[Link, ...]:
    links = json.loads(text)
    if not isinstance(links, list) or not all(isinstance(link, dict) for link in links):
        raise ValueError("the links of a finding are no list of objects")
    for link in links:
        wrong = misfit(Link, link)
        if wrong is not None or "text" not in link:
            raise ValueError(f"in a link of a finding {wrong or 'there is no text'}")
        if any(not abs(each) < BEYOND for each in link.values() if isinstance(each, (int, float))):
            raise ValueError("a link of a finding leads out of all bounds")  # or to NaN
    return tuple(Link(**link) for link in links)


@dataclass
class Sighting:
    """Where one cache first showed something, and how often it did so."""

    cache: Cache
    frame: Frame
    slots: Slots
    count: int = 1


class Sightings:
    """Collects what is seen cache by cache; what caches have in common becomes one group."""

    def __init__(self) -> None:
        self._first: dict[int, Sighting] = {}
        self._built: dict[tuple[int, ...], Finding] = {}

    def add(self, cache: Cache, frame: Frame, slots: Slots, count: int = 1) -> None:
        known = self._first.get(cache.id)
        if known is None:
            self._first[cache.id] = Sighting(cache, frame, slots, count)
        else:
            known.count += count

    def groups(self) -> list[list[Sighting]]:
        """Sightings of the same model, frame and slots together, by frame, then by cache."""
        groups: dict[tuple[str, int, Slots], list[Sighting]] = {}
        for _, seen in sorted(self._first.items()):
            key = (seen.cache.model, seen.frame.id, seen.slots)
            groups.setdefault(key, []).append(seen)
        return sorted(groups.values(), key=lambda group: group[0].frame.id)

    def findings(self, build: Callable[[list[Sighting]], Finding]) -> list[Finding]:
        """The finding of each group; built once, only its count goes on. Ask between frames."""
        found = []
        for group in self.groups():
            key = tuple(seen.cache.id for seen in group)
            if key not in self._built:
                self._built[key] = build(group)
            count = sum(seen.count for seen in group)
            found.append(replace(self._built[key], count=count))
        return found


def finding_of(
    kind: str,
    group: Sequence[Sighting],
    message: str,
    *,
    chain: Sequence[Link] = (),
    kv: Literal["K", "V"] | None = None,
    op: Op | None = None,
) -> Finding:
    """The error that a group of sightings makes; the first one says where."""
    first = group[0]
    return Finding(
        kind=kind,
        severity="error",
        message=message,
        frame=first.frame.id,
        phase=first.frame.phase,
        layer=layer_of(first.cache),
        kv=kv,
        slots=first.slots,
        op=None if op is None else op.name,
        site=None if op is None else f"{op.site[0]}:{op.site[1]}",
        chain=tuple(chain),
        count=sum(seen.count for seen in group),
        cache=first.cache.id,
        caches=tuple(seen.cache.id for seen in group),
    )


def op_link(op: Op, what: str) -> Link:
    """The link to an op: its name, its source line, and what it did."""
    file, line, function = op.site
    return Link(f"{op.name} at {file}:{line} in {function} {what}", frame=op.frame, op=op.id)


def layer_of(cache: Cache) -> int | str:
    """How a finding names a cache: FlowLM layers by number, codec layers by state entry."""
    return cache.layer if cache.model == "flow_lm" else cache.name


def layers_words(caches: Sequence[Cache]) -> str:
    """Such as `Layer 3`, `Layers 0 to 5`, or `Mimi decoder layers 0 and 1`."""
    numbers = [cache.layer for cache in caches]
    whose = "" if caches[0].model == "flow_lm" else f"Mimi {caches[0].name.split('_')[0]} "
    if len(numbers) == 1:
        words = f"{whose}layer {numbers[0]}"
    elif numbers == list(range(numbers[0], numbers[0] + len(numbers))) and len(numbers) > 2:
        words = f"{whose}layers {numbers[0]} to {numbers[-1]}"
    else:
        words = f"{whose}layers {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    return sentence(words)


def sentence(words: str) -> str:
    """Words as a sentence begins, with a capital letter."""
    return words[0].upper() + words[1:]


def within(layers: str) -> str:
    """`layers_words` for the middle of a sentence."""
    return layers if layers.startswith("Mimi") else layers[0].lower() + layers[1:]


def slots_words(slots: Slots) -> str:
    """Such as `slot 7` or `slots 7 to 9`."""
    first, last = slots
    return f"slot {first}" if last - first == 1 else f"slots {first} to {last - 1}"


def frame_words(frame: Frame) -> str:
    """Such as `frame 7 (decode step 5)`."""
    return f"frame {frame.id} ({frame.title})"


def often_words(finding: Finding) -> str:
    """How often it was seen, where that is more than once: what is counted differs by kind."""
    if finding.count == 1:
        return ""
    return f"Seen {finding.count:,} times over all frames, layers and slots"


def sum_words(chunk: Chunk) -> str:
    """The sum that sizes the caches of a chunk, in numbers."""
    total = chunk.current_end + chunk.token_count + chunk.max_gen_len
    return (
        f"chunk {chunk.id}: current_end {chunk.current_end} + token_count {chunk.token_count} + "
        f"max_gen_len {chunk.max_gen_len} = {total}"
    )
