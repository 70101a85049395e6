"""NaN that went in and did not come out."""

from pathlib import Path

import pytest

from kvstudio.analysis.checks.laundering import LaunderingCheck
from tests.analysis.checks.evidence import begun, ended
from tests.analysis.checks.running import findings_of, texts
from tests.fakes import FILE, FakeRun
from tests.recording.reading import tamper

LINEAR = "quantized.linear_dynamic.default"


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return begun(FakeRun(tmp_path / "run.kvrec"), steps=0)


def laundered(run: FakeRun, frame: int, name: str, module: str, part: int = 2) -> None:
    """The fourth op of a frame takes NaN and gives finite numbers; site and shapes stay."""
    tamper(
        run.path,
        f"INSERT INTO call SELECT max(id) + 1, '{name}', "
        f"(SELECT id FROM site WHERE line = 13), '{module}' FROM call",
        f"UPDATE op SET nan_in = 1, nan_out = 0, part = {part}, call = (SELECT max(id) FROM call) "
        f"WHERE id = (SELECT min(id) + 3 FROM op WHERE frame = {frame})",
    )


def test_a_healthy_run_has_none(run: FakeRun) -> None:
    run.evidence = {"fed": "marker"}
    run.decode()
    run.evidence = {"fed": "latent"}
    ended(run)
    assert findings_of(LaunderingCheck, run.path) == []


@pytest.mark.parametrize(
    ("name", "module", "layer"),
    [
        (LINEAR, "flow_lm.transformer.layers.1.linear1", 1),
        ("aten.nan_to_num.default", "flow_lm", None),
        ("aten.where.self", "", None),
    ],
)
def test_an_op_that_hides_nan(run: FakeRun, name: str, module: str, layer: int | None) -> None:
    ended(run, 4)
    laundered(run, 4, name, module)
    (found,) = findings_of(LaunderingCheck, run.path)
    assert (found.kind, found.frame, found.layer) == ("nan-laundered", 4, layer)
    assert (found.op, found.site, found.count) == (name, f"{FILE}:13", 1)
    assert f"{name} at {FILE}:13 gave finite numbers. From here on the NaN" in found.message


def test_an_op_of_the_codec_is_named_by_its_module(run: FakeRun) -> None:
    ended(run, 4)
    laundered(run, 4, "aten.nan_to_num.default", "mimi.decoder.model.0", part=3)
    (found,) = findings_of(LaunderingCheck, run.path)
    assert found.layer == "mimi.decoder.model.0"


@pytest.mark.parametrize("name", ["aten.isnan.default", "aten.gt.Scalar", "aten.copy_.default"])
def test_questions_and_moves_hide_nothing(run: FakeRun, name: str) -> None:
    ended(run, 4)
    laundered(run, 4, name, "flow_lm")
    assert findings_of(LaunderingCheck, run.path) == []


@pytest.mark.parametrize("module", ["flow_lm", ""])
def test_the_start_marker_of_the_first_step_is_normal(run: FakeRun, module: str) -> None:
    ended(run, 4)
    laundered(run, 2, "aten.where.self", module)
    assert findings_of(LaunderingCheck, run.path) == []


def test_a_layer_that_hides_nan_in_the_first_step_is_not(run: FakeRun) -> None:
    ended(run, 4)
    laundered(run, 2, LINEAR, "flow_lm.transformer.layers.0.linear1")
    (found,) = findings_of(LaunderingCheck, run.path)
    assert (found.frame, found.layer) == (2, 0)


def test_a_latent_that_was_taken_for_the_start_marker(run: FakeRun) -> None:
    for fed in ("marker", "latent", "marker", "latent"):
        run.evidence = {"fed": fed}
        run.decode()
    run.writer.finish("finished", "EOS")
    laundered(run, 4, "aten.where.self", "flow_lm")
    (found,) = findings_of(LaunderingCheck, run.path)
    assert (found.kind, found.frame, found.count) == ("nan-laundered", 4, 1)
    assert found.op == "aten.where.self"
    assert "FlowLM replaced it by the learned start vector as if speech began" in found.message
    assert texts(found)[1] == "a NaN latent was replaced by the start vector"


def test_where_the_hidden_nan_began_is_told(run: FakeRun) -> None:
    ended(run, 4)
    laundered(run, 4, LINEAR, "flow_lm.transformer.layers.1.linear1")
    tamper(
        run.path,
        "UPDATE op SET nan_in = 0, nan_out = 1, part = 2 "
        "WHERE id = (SELECT min(id) + 1 FROM op WHERE frame = 4)",
    )
    (found,) = findings_of(LaunderingCheck, run.path)
    assert "takes no NaN and gives one" in texts(found)[0]
    assert f"{FILE}:11: look there." in found.message
