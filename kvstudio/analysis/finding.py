"""What a check reports: what is wrong, where, with the evidence and the next thing to look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kvstudio.recording.rows import Cache, Chunk, Frame, Op, Phase

Severity = Literal["error", "warning"]
Slots = tuple[int, int]


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
        chain: the way from the origin to what is heard, one link each.
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
    chain: tuple[str, ...] = ()
    count: int = 1

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
            "chain": list(self.chain),
            "count": self.count,
        }


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


def finding_of(
    kind: str,
    group: Sequence[Sighting],
    message: str,
    *,
    chain: tuple[str, ...] = (),
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
        chain=chain,
        count=sum(seen.count for seen in group),
    )


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
    return words[0].upper() + words[1:]


def slots_words(slots: Slots) -> str:
    """Such as `slot 7` or `slots 7 to 9`."""
    first, last = slots
    return f"slot {first}" if last - first == 1 else f"slots {first} to {last - 1}"


def frame_words(frame: Frame) -> str:
    """Such as `frame 7 (decode step 5)`."""
    return f"frame {frame.id} ({frame.title})"


def sum_words(chunk: Chunk) -> str:
    """The sum that sizes the caches of a chunk, in numbers."""
    total = chunk.current_end + chunk.token_count + chunk.max_gen_len
    return (
        f"chunk {chunk.id}: current_end {chunk.current_end} + token_count {chunk.token_count} + "
        f"max_gen_len {chunk.max_gen_len} = {total}"
    )
