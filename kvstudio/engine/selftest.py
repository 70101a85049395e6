"""Plants every fault in every model it fits, and looks whether the checks find it.

Run as a module it writes the rows to standard output as one JSON object, progress to standard
error:

    python -m kvstudio.engine.selftest [--all] [RECIPE ...]
"""

import argparse
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kvstudio.analysis.checker import check
from kvstudio.analysis.finding import Finding
from kvstudio.engine.demo import demo_voice
from kvstudio.engine.faults.truth import Truth
from kvstudio.engine.gate import Gate
from kvstudio.engine.progress import ProgressReporter
from kvstudio.engine.random_weights import random_model
from kvstudio.engine.session import Session
from kvstudio.recording.errors import SpecError
from kvstudio.recording.reader import Recording
from kvstudio.recording.recipes import RECIPES, Recipe, parse_edit
from kvstudio.recording.spec import DEMO_TEXT, DEMO_VOICE, Edit, ModelSource, RunSpec

SHORT_TEXT = "Hi all."
HEALTHY = "healthy"
FRAMES_AFTER = 12  # that are looked at after an edit


@dataclass(frozen=True)
class Shape:
    """A model that faults are planted in.

    Attributes:
        ends: it ends by itself; random weights never do, so their runs are cut off at the end.
    """

    name: str
    make: Callable[[], Session]
    ends: bool


@dataclass(frozen=True)
class Row:
    """One fault in one model.

    Attributes:
        recipe: the edit as it is written, or `healthy` for a run without any.
        expected: the kind of finding, or `clean`.
        found: every kind that was reported.
        unrelated: those of them that the fault does not explain.
        says: what is wrong, in words.
    """

    recipe: str
    model: str
    expected: str
    found: list[str]
    frame_ok: bool
    layer_ok: bool
    slot_ok: bool
    unrelated: list[str]
    ok: bool
    says: str = ""


def shapes(everything: bool) -> list[Shape]:
    """The demo model, or every shape that pocket-tts comes in."""
    found = [Shape("demo", partial(_loaded, ModelSource()), ends=True)]
    if everything:
        found += [
            Shape("demo int8", partial(_loaded, ModelSource(quantize=True)), ends=True),
            Shape("2M grouped-query", partial(_random, "english_2m_2026-10"), ends=False),
            Shape("english", partial(_random, "english"), ends=False),
            Shape("24 layers", partial(_random, "english_2026-04_24l"), ends=False),
        ]
    return found


def cases(names: Sequence[str] = ()) -> list[str]:
    """Edits as they are written: each recipe with its defaults, then its variants.

    Raises:
        SpecError: there is no recipe of that name.
    """
    found = []
    for name in names or RECIPES:
        recipe = RECIPES[name] if name in RECIPES else None
        if recipe is None:
            found.append(name)
            parse_edit(name)
            continue
        for arguments in ("", *recipe.variants):
            found.append(f"{name}{':' if arguments else ''}{arguments}@{recipe.frame}")
    return found


def rows(everything: bool, names: Sequence[str] = ()) -> Iterator[Row]:
    """Every row, as it becomes known."""
    edits = cases(names)
    for shape in shapes(everything):
        session = shape.make()
        with tempfile.TemporaryDirectory(prefix="kvstudio-selftest-") as folder:
            healthy = _healthy(session, shape, Path(folder) / "healthy.kvrec")
            yield healthy
            for number, edit in enumerate(edits):
                if fits(RECIPES[parse_edit(edit).recipe], session, shape):
                    path = Path(folder) / f"{number}.kvrec"
                    yield planted(session, shape, edit, path, healthy.found)
                    path.unlink()


def fits(recipe: Recipe, session: Session, shape: Shape) -> bool:
    """Whether the model has what the recipe needs."""
    assert session.tts is not None
    has_marker = bool(getattr(session.tts.flow_lm, "insert_bos_before_voice", False))
    return (shape.ends or "ends" not in recipe.needs) and (
        has_marker or "marker" not in recipe.needs
    )


def planted(
    session: Session, shape: Shape, text: str, path: Path, usual: Sequence[str] = ()
) -> Row:
    """Runs one edit and judges what the checks say of it; `usual` is found without it, too."""
    edit = parse_edit(text)
    try:
        findings = _run(session, edit, path)
    except SpecError as error:
        return _row(text, shape, RECIPES[edit.recipe].kind, [], None, [], str(error))
    assert session.plan is not None
    truth = session.plan.truths[text]
    return judged(text, shape.name, findings, truth, usual)


def judged(
    text: str, model: str, findings: Sequence[Finding], truth: Truth | None, usual: Sequence[str]
) -> Row:
    """Holds what was found against what the fault knows about itself."""
    recipe = RECIPES[parse_edit(text).recipe]
    right = [each for each in findings if each.kind in (recipe.kind, *recipe.alike)]
    explained = {recipe.kind, *recipe.alike, *recipe.follows, *usual}
    unrelated = sorted({each.kind for each in findings} - explained)
    first = right[0] if right else None
    places = (False, False, False) if truth is None or first is None else _places(first, truth)
    return Row(
        recipe=text,
        model=model,
        expected=recipe.kind,
        found=[each.kind for each in findings],
        frame_ok=places[0],
        layer_ok=places[1],
        slot_ok=places[2],
        unrelated=unrelated,
        ok=all(places) and not unrelated,
        says=_what_is_wrong(first, truth, places, unrelated),
    )


def _places(found: Finding, truth: Truth) -> tuple[bool, bool, bool]:
    """Whether frame, layer and slots are right."""
    frame = not truth.frames or found.frame in truth.frames
    layer = not truth.layers or found.layer is None or found.layer in truth.layers
    inside = found.slots is not None and any(
        lo <= found.slots[0] and found.slots[1] <= hi for lo, hi in truth.slots
    )
    return frame, layer, not truth.slots or inside


def _what_is_wrong(
    found: Finding | None,
    truth: Truth | None,
    places: tuple[bool, bool, bool],
    unrelated: Sequence[str],
) -> str:
    if truth is None:
        return "the fault had nothing to act on in this run"
    wrong = ["not found"] if found is None else []
    if found is not None and not all(places):
        where = f"frame {found.frame}, layer {found.layer}, slots {found.slots}"
        wrong.append(f"{found.kind} at {where}, but it is {truth}")
    if unrelated:
        wrong.append(f"unrelated: {', '.join(unrelated)}")
    return "; ".join(wrong)


def _healthy(session: Session, shape: Shape, path: Path) -> Row:
    findings = _run(session, None, path)
    unrelated = [each.kind for each in findings if shape.ends or each.kind != "no-eos"]
    return _row(HEALTHY, shape, "clean", findings, True, unrelated, "")


def _row(
    text: str,
    shape: Shape,
    expected: str,
    findings: Sequence[Finding],
    placed: bool | None,
    unrelated: list[str],
    says: str,
) -> Row:
    right = bool(placed)
    kinds = [each.kind for each in findings]
    return Row(
        text, shape.name, expected, kinds, right, right, right, unrelated,
        right and not unrelated, says or ("false alarm" if unrelated else ""),
    )  # fmt: skip


def _run(session: Session, edit: Edit | None, path: Path) -> Sequence[Finding]:
    """What the checks find in a run."""
    long = edit is not None and RECIPES[edit.recipe].at is not None
    spec = RunSpec(
        model=session.source or ModelSource(),
        voice=_voice(),
        text=DEMO_TEXT if long else SHORT_TEXT,
        edits=() if edit is None else (edit,),
    )
    gate = _gate(edit)
    session.run(spec, session.open_recording(spec, path), gate)
    with Recording.open(path) as recording:
        return check(recording).findings


def _gate(edit: Edit | None) -> Gate:
    """Lets a run go on to its end if that is what it is about; NaN would go on for ever."""
    if edit is None or "ends" in RECIPES[edit.recipe].needs:
        gate = Gate()
        gate.run()
        return gate
    gate = Gate(on_held=lambda frame: gate.stop())
    gate.run(edit.frame + FRAMES_AFTER)
    return gate


def _voice() -> str:
    path = demo_voice(DEMO_VOICE)
    assert path is not None
    return str(path)


def _loaded(source: ModelSource) -> Session:
    session = Session(ProgressReporter(lambda progress: None))
    session.load(source)
    session.make_voice(_voice())
    return session


def _random(language: str) -> Session:
    session = Session(ProgressReporter(lambda progress: None))
    session.adopt(random_model(language), ModelSource("config", f"{language} (random weights)"))
    session.make_voice(_voice())
    return session


def main(arguments: Sequence[str]) -> dict[str, Any]:
    """All rows, told one by one on standard error meanwhile."""
    parser = argparse.ArgumentParser(description="Every fault against every check.")
    parser.add_argument("recipes", nargs="*")
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args(arguments)
    logging.disable(logging.ERROR)  # what the model says of a planted fault is no news
    done = []
    for row in rows(asked.all, asked.recipes):
        done.append(row)
        how = "ok  " if row.ok else "MISS"
        says = f": {row.says}" if row.says else ""
        sys.stderr.write(f"{how} {row.model}  {row.recipe}  {row.expected}{says}\n")
        sys.stderr.flush()
    return {"ok": all(row.ok for row in done), "rows": [asdict(row) for row in done]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1:])) + "\n")
