"""The rows of what a run left as evidence for the checks; each is documented with its table."""

from dataclasses import dataclass
from typing import Literal

MisuseKind = Literal["unwritten-read", "stale-read", "overwrite", "dropped-write"]
Fill = Literal["nan", "zero", "other"]
Found = Literal[
    "changed", "fresh", "not fresh", "unread", "kept", "spoken",
    "swapped", "rotated", "rounded", "foreign",
]  # fmt: skip
"""changed; fresh, as if just made; not fresh when it should be; written over unread; kept as it was
though it was used; spoken, in an earlier call on the same state; or K and V that the layer's own
weights cannot have made, and what they look like."""
Fed = Literal["marker", "latent", "zero", "nan", "other"]


@dataclass(frozen=True)
class Misuse:
    """What an op did to slots that no healthy run does; see the `misuse` table.

    `op`: its id in the recording; before it is written, its index among the frame's ops.
    """

    op: int
    cache: int
    kind: MisuseKind
    kv: int
    first: int
    last: int
    head_first: int
    head_last: int
    masked: bool | None
    fill: Fill
    writer: int | None = None
    frame: int = -1


@dataclass(frozen=True)
class Attention:
    """How an attention op looked at its cache; see the `attention` table. `op` as in `Misuse`."""

    op: int
    cache: int
    queries: int
    keys: int
    position: int
    slot: int | None
    rope: int | None
    oldest: int | None
    newest: int | None
    attended: int
    future: int
    outside: int
    missing: int
    frame: int = -1


@dataclass(frozen=True)
class Surprise:
    """State that a step found otherwise than it was left; see the `surprise` table."""

    model: str
    entry: str
    key: str
    found: Found
    first: int | None = None
    last: int | None = None
    frame: int = -1


@dataclass(frozen=True)
class Prefix:
    """What a chunk's prefix turned out to be; see the `prefix` table."""

    chunk: int
    marker_wanted: bool
    marker_slot: int | None
    foreign_slots: int | None
    voice_slots: int


@dataclass(frozen=True)
class FindingRow:
    """One finding as it is stored; see the `finding` table and `analysis.finding`."""

    kind: str
    severity: str
    message: str
    frame: int | None
    phase: str | None
    layer: str | None
    cache: int | None
    caches: str
    kv: str | None
    first: int | None
    last: int | None
    op: str | None
    site: str | None
    count: int
    links: str
