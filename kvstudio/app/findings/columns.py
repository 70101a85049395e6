"""The columns of the list of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvstudio.analysis.finding import often_words
from kvstudio.app.findings.words import (
    count_words,
    finding_slots,
    layer_words,
    severity_words,
)
from kvstudio.app.row_model import Column
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvstudio.analysis.finding import Finding


def finding_columns(labels: Callable[[], Mapping[int, str]]) -> list[Column[Finding]]:
    """`labels` gives the short names of caches by id."""
    return [
        Column("severity", 6, severity_words, color=_color, tip=_tip),
        Column("kind", 16, lambda f: f.kind, color=_color, tip=_tip),
        Column("frame", 5, _frame, order=lambda f: f.frame or 0, right=True),
        Column("layer", 5, lambda f: layer_words(f, labels())),
        Column("slots", 6, finding_slots, order=lambda f: f.slots or (-1, -1)),
        Column("times", 4, count_words, order=lambda f: f.count, title_tip=_COUNT_TIP),
    ]


_COUNT_TIP = (
    "How often the same thing was seen, over all frames, layers and slots; the first time is "
    "described"
)


def _frame(finding: Finding) -> str:
    return "" if finding.frame is None else str(finding.frame)


def _tip(finding: Finding) -> str:
    often = often_words(finding)
    return f"{finding.message}\n{often}." if often else finding.message


def _color(finding: Finding) -> str:
    palette = current_palette()
    return palette.error if finding.severity == "error" else palette.warning
