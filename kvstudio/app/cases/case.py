"""A guided case as it lies in `resources/cases`: what one hears, hints, the answer, and the run."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kvstudio.paths import resources
from kvstudio.recording.spec import RunSpec

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Hint:
    """`panel` is the key of the panel that the hint points at."""

    panel: str
    text: str


@dataclass(frozen=True)
class Case:
    """Attributes.

    symptom: what one hears, without the cause.
    hints: from view to view, each a step nearer.
    spec: the faulty run.
    """

    title: str
    symptom: str
    hints: tuple[Hint, ...]
    answer: str
    spec: RunSpec

    @property
    def healthy(self) -> RunSpec:
        """The same run without the fault."""
        return replace(self.spec, edits=())

    @classmethod
    def read(cls, path: Path) -> Case:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            facts["title"],
            facts["symptom"],
            tuple(Hint(**hint) for hint in facts["hints"]),
            facts["answer"],
            RunSpec.from_dict(facts["spec"]),
        )


def guided_cases() -> list[Case]:
    """All of them, in order; none if the installation is incomplete."""
    try:
        folder = resources() / "cases"
    except FileNotFoundError:
        return []
    return [Case.read(path) for path in sorted(folder.glob("*.json"))]
