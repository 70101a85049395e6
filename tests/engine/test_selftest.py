"""Every fault is found where it is, in the demo model, and nothing else is reported."""

from pathlib import Path

import pytest

from kvstudio.analysis.finding import Finding
from kvstudio.engine import selftest
from kvstudio.engine.faults.truth import Truth
from kvstudio.engine.session import Session
from kvstudio.recording.errors import SpecError
from kvstudio.recording.recipes import RECIPES


@pytest.fixture(scope="module")
def demo() -> tuple[selftest.Shape, Session]:
    (shape,) = selftest.shapes(everything=False)
    return shape, shape.make()


@pytest.mark.parametrize("edit", selftest.cases())
def test_a_fault_is_found(demo: tuple[selftest.Shape, Session], tmp_path: Path, edit: str) -> None:
    shape, session = demo
    row = selftest.planted(session, shape, edit, tmp_path / "run.kvrec")
    assert row.ok, f"{row.says}; found {row.found}"


@pytest.fixture
def first_rows() -> list[selftest.Row]:
    return list(selftest.rows(everything=False, names=["no-expansion", "poke-nan:slot=3@4"]))


def test_rows(first_rows: list[selftest.Row]) -> None:
    assert [row.recipe for row in first_rows] == ["healthy", "no-expansion@1", "poke-nan:slot=3@4"]
    assert [row.expected for row in first_rows] == ["clean", "capacity-exceeded", "nan-produced"]
    assert all(row.ok for row in first_rows)
    assert first_rows[0].found == []


def test_cases_are_every_recipe_and_its_variants() -> None:
    wanted = sum(1 + len(recipe.variants) for recipe in RECIPES.values())
    assert len(set(selftest.cases())) == wanted
    with pytest.raises(SpecError, match="cannot read the edit"):
        selftest.cases(["nonsense"])


EDIT = "off-by-one-read:layer=2@6"
TRUTH = Truth(frames=(6,), layers=(2,), slots=((32, 33),))


def found(kind: str = "unwritten-read", **where: object) -> Finding:
    place: dict[str, object] = {"frame": 6, "layer": 2, "slots": (32, 33), **where}
    return Finding(kind, "error", "words", **place)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("findings", "truth", "says"),
    [
        ([found()], TRUTH, ""),
        ([found(), found("no-eos", frame=40, layer=None, slots=None)], TRUTH, ""),
        ([], TRUTH, "not found"),
        ([found("hole")], TRUTH, "not found; unrelated: hole"),
        ([found(), found("overwrite")], TRUTH, "unrelated: overwrite"),
        ([found(frame=7)], TRUTH, "unwritten-read at frame 7, layer 2"),
        ([found(layer=3)], TRUTH, "unwritten-read at frame 6, layer 3"),
        ([found(slots=(31, 33))], TRUTH, "layer 2, slots (31, 33)"),
        ([found(slots=None)], TRUTH, "slots None"),
        ([found()], None, "the fault had nothing to act on in this run"),
    ],
)
def test_judging(findings: list[Finding], truth: Truth | None, says: str) -> None:
    row = selftest.judged(EDIT, "demo", findings, truth, usual=())
    assert row.ok == (says == "")
    assert says in row.says
    assert row.found == [each.kind for each in findings]


def test_what_is_usual_for_a_model_is_not_held_against_a_fault() -> None:
    findings = [found(), found("overwrite")]
    assert selftest.judged(EDIT, "demo", findings, TRUTH, usual=["overwrite"]).ok
