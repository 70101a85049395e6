"""A working folder belongs to one plan: what lies there would be taken for any other run's own."""

import json
from dataclasses import asdict
from pathlib import Path

import yaml

from train.models import CONFIG
from train.plan import Plan

HARMLESS = ("workers", "faults")  # what comes out is the same


class OtherPlan(Exception):
    """The folder belongs to another plan."""


def claim(folder: Path, plan: Plan) -> None:
    """Note the plan and the model's config in `folder`, or see that they are those of this run.

    Raises:
        OtherPlan: they are not.
    """
    ours = {name: value for name, value in asdict(plan).items() if name not in HARMLESS}
    ours["config"] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    note = folder / "plan.json"
    folder.mkdir(parents=True, exist_ok=True)
    if not note.exists():
        note.write_text(json.dumps(ours, indent=1), encoding="utf-8")
    if json.loads(note.read_text(encoding="utf-8")) != ours:
        raise OtherPlan(f"{folder} holds a run by another plan: give another --work")
