"""Findings in the window's words: the verdict, a row of the list, what a link leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kvstudio.app.cache_words import slots_words
from kvstudio.app.words import as_sentence, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvstudio.analysis.finding import Finding, Link
    from kvstudio.app.findings.watch import FindingsWatch

Tone = Literal["calm", "ok", "warning", "error"]
DOT = " · "
GLYPHS: dict[str, str] = {"error": "▲", "warning": "△"}
NORMAL = (
    "Normal, and never a finding: NaN in slots at or past the offset (nobody wrote them yet), the "
    "NaN start marker that the first decode step is fed (a learned vector takes its place), and "
    "Mimi reading no further back than its window."
)


WITHHELD = (
    "This run is a guided case. What was found here names its cause, so it waits until you have "
    "looked for it yourself; the hints lead the way."
)


@dataclass(frozen=True)
class VerdictWords:
    """How things stand: a glyph, a few words, and a sentence more."""

    glyph: str
    title: str
    more: str
    tone: Tone


def verdict_words(watch: FindingsWatch) -> VerdictWords:
    """The line at the top of the findings."""
    found = len(watch.findings)
    if found:
        worst: Tone = "error" if any(f.severity == "error" for f in watch.findings) else "warning"
        so_far = " so far" if watch.standing == "so far" else ""
        return VerdictWords(GLYPHS[worst], f"{counted(found, 'finding')}{so_far}", "", worst)
    return {
        "none": VerdictWords("", "", "", "calm"),
        "so far": VerdictWords("…", "Nothing found so far", "", "calm"),
        "checking": VerdictWords("…", "Looking through the recording", "", "calm"),
        "clean": VerdictWords("✓", "Clean", as_sentence(watch.reason), "ok"),
        "findings": VerdictWords("", "", "", "calm"),
        "not verified": VerdictWords("?", "Not verified", as_sentence(watch.reason), "warning"),
        "unreadable": VerdictWords(
            "!", "The findings cannot be read", as_sentence(watch.reason), "error"
        ),
    }[watch.standing]


def empty_words(watch: FindingsWatch) -> str:
    """What stands in place of the list while there is nothing in it."""
    return {
        "none": (
            "No recording is open. Every run is watched while it goes on: what is wrong appears "
            "here, with the way from its origin to the sound."
        ),
        "so far": "All ops, slots and samples up to now are as they should be.",
        "checking": "The engine left no findings in this file, so it is checked again.",
        "clean": "Everything that the run did was seen, and nothing is wrong with it.",
        "not verified": "That nothing was found proves nothing here.",
    }.get(watch.standing, "")


# ---- a row of the list --------------------------------------------------------------------------


def severity_words(finding: Finding) -> str:
    """Such as `▲ error`."""
    return f"{GLYPHS.get(finding.severity, '')} {finding.severity}"


def layer_words(finding: Finding, labels: Mapping[int, str]) -> str:
    """`L2`, `D0`, or `codec` for what Mimi keeps besides; the message names the entries."""
    if finding.cache is not None and finding.cache in labels:
        others = len(set(finding.caches) - {finding.cache})
        return f"{labels[finding.cache]} +{others}" if others else labels[finding.cache]
    if finding.layer is None:
        return ""
    return f"L{finding.layer}" if isinstance(finding.layer, int) else "codec"


def finding_slots(finding: Finding) -> str:
    if finding.slots is None:
        return ""
    kv = f"{finding.kv} " if finding.kv else ""
    return f"{kv}{slots_words(*finding.slots)}"


def count_words(finding: Finding) -> str:
    return f"{finding.count:,} ×" if finding.count > 1 else ""  # noqa: RUF001


# ---- a link of the chain ------------------------------------------------------------------------


def link_target(link: Link, labels: Mapping[int, str]) -> str:
    """Where it leads: such as `frame 17 · op 1,204 · L2 slot 52 · 1.28 s`; empty for nowhere."""
    parts = []
    if link.frame is not None:
        parts.append(f"frame {link.frame}")
    if link.op is not None:
        parts.append(f"op {link.op:,}")
    if link.cache is not None:
        slot = "" if link.slot is None else f" slot {link.slot}"
        parts.append(f"{labels.get(link.cache, f'cache {link.cache}')}{slot}")
    if link.second is not None:
        parts.append(f"{link.second:.2f} s")
    return DOT.join(parts)
