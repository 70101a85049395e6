"""The verdict: clean only if the whole run was seen and nothing was found."""

import json
from pathlib import Path

import pytest

from kvstudio.analysis.checker import CHECKS
from kvstudio.analysis.checks.capacity import CapacityCheck
from kvstudio.analysis.finding import Finding, layers_words
from kvstudio.analysis.report import Report
from kvstudio.recording.rows import Cache
from kvstudio.recording.spec import Edit, RunSpec
from tests.analysis.checks.running import cut_off, report_of, texts
from tests.fakes import FakeRun


def status_is(status: str) -> str:
    return f"UPDATE meta SET value = '\"{status}\"' WHERE key = 'status'"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.kvrec"
    FakeRun(path).run(4)
    return path


def test_a_healthy_run_is_clean(path: Path) -> None:
    report = report_of(path)
    assert report == Report("clean", f"6 frames, {len(CHECKS)} checks, no findings", 6, ())


def test_an_edit_that_never_took_place_is_said(tmp_path: Path) -> None:
    edits = (Edit("poke-nan", 5, {}), Edit("lost-write", 30, {"layer": "2"}))
    FakeRun(tmp_path / "run.kvrec", spec=RunSpec(edits=edits)).run(4)
    reason = report_of(tmp_path / "run.kvrec").reason
    never = "; lost-write:layer=2@30 never took place: the last frame was frame 5"
    assert reason.endswith(f"no findings{never}")


def test_a_healthy_run_of_several_chunks_is_clean(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    for continues in (None, None, 1):
        run.begin_chunk(continues=continues)
        run.prefill()
        run.decode()
        run.decode(eos=True)
    run.writer.finish("finished")
    assert report_of(run.path).verdict == "clean"


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (status_is("recording"), "the run is still going on; its 6 frames have no findings"),
        (
            "UPDATE meta SET value = CASE key WHEN 'pid' THEN '4194305' ELSE '\"recording\"' END "
            "WHERE key IN ('pid', 'status')",
            "the run was cut short: the process that recorded it is gone",
        ),
        (status_is("stopped"), "the run was stopped before its end"),
        (status_is("failed"), "the run failed: EOS"),
        ("DELETE FROM op WHERE frame = 5", "no op of FlowLM was seen in frame 5 (frames: 1)"),
        ("UPDATE op SET part = 2", "no op of Mimi was seen in frame 2 (frames: 4)"),
        (
            "DELETE FROM attention WHERE cache = 1 AND frame > 3",
            "it was not seen which slots layer 1 read in frame 4 (decode step 2): the attention "
            "ran where the tracer does not look, in a form that it does not know, or on K and V "
            "that are kept elsewhere than in the state's `cache` (frames: 2)",
        ),
        ("UPDATE cache SET model = 'other' WHERE id < 2", "no KV cache of FlowLM was found"),
    ],
)
def test_what_was_not_seen_is_not_verified(path: Path, statement: str, says: str) -> None:
    report = report_of(path, statement)
    assert (report.verdict, report.findings) == ("not verified", ())
    assert says in report.reason


def test_a_run_without_frames_is_not_verified(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.writer.finish("finished")
    assert report_of(run.path) == Report(
        "not verified", "nothing to check: the recording has no frames", 0, ()
    )


@pytest.mark.parametrize("trace", ["off", "cache"])
def test_a_trace_that_leaves_something_out_is_not_verified(tmp_path: Path, trace: str) -> None:
    run = FakeRun(tmp_path / "run.kvrec", spec=RunSpec(trace=trace))  # type: ignore[arg-type]
    run.run(3)
    report = report_of(run.path, "DELETE FROM op")
    assert report.verdict == "not verified"
    assert f"was recorded with trace {trace}, so" in report.reason
    assert "--trace full" in report.reason


def test_findings_are_told_even_of_a_run_that_was_not_seen_whole(path: Path) -> None:
    report = report_of(path, "DELETE FROM slot_delta WHERE frame = 3", status_is("stopped"))
    assert report.verdict == "findings"
    assert report.reason == "2 findings: hole (2)"


def test_findings_come_in_the_order_of_their_frames(tmp_path: Path) -> None:
    FakeRun(tmp_path / "run.kvrec").run(4)
    report = report_of(
        tmp_path / "run.kvrec",
        "DELETE FROM slot_delta WHERE cache = 2 AND frame = 4",
        "UPDATE tensor_state SET dtype = 'float16' WHERE tensor = 0 AND frame = 5",
        "UPDATE cache_state SET offset = 12 WHERE cache = 1 AND frame = 3",
    )
    assert [(each.kind, each.frame) for each in report.findings] == [
        ("offset-skew", 3),
        ("hole", 4),
        ("dtype-mismatch", 5),
    ]
    assert report.reason == "3 findings: offset-skew, hole, dtype-mismatch"


def test_json_is_what_the_contract_says(tmp_path: Path) -> None:
    run = cut_off(tmp_path / "run.kvrec", 30, eos=False)
    report = report_of(run.path)
    (found,) = report.findings
    assert json.loads(json.dumps(report.to_json())) == {
        "verdict": "findings",
        "reason": "1 finding: no-eos",
        "frames": 32,
        "findings": [
            {
                "kind": "no-eos",
                "severity": "warning",
                "frame": 31,
                "phase": "decode",
                "layer": None,
                "kv": None,
                "slots": None,
                "op": None,
                "site": None,
                "message": found.message,
                "chain": texts(found),
                "count": 1,
            }
        ],
    }
    assert Finding("hole", "error", "", slots=(3, 5)).to_json()["slots"] == [3, 5]


@pytest.mark.parametrize(
    ("layers", "model", "words"),
    [
        ([3], "flow_lm", "Layer 3"),
        ([0, 1], "flow_lm", "Layers 0 and 1"),
        ([0, 1, 2, 3], "flow_lm", "Layers 0 to 3"),
        ([0, 2, 3], "flow_lm", "Layers 0, 2 and 3"),
        ([0, 1], "mimi", "Mimi decoder layers 0 and 1"),
    ],
)
def test_layers_in_words(layers: list[int], model: str, words: str) -> None:
    name = "decoder_transformer.layers" if model == "mimi" else "transformer.layers"
    caches = [Cache(n, model, f"{name}.{n}", n, 1, 1, 1, None, "f", "cpu") for n in layers]
    assert layers_words(caches) == words


def test_the_checks_are_named_in_one_place() -> None:
    assert CapacityCheck in CHECKS
    assert len(set(CHECKS)) == len(CHECKS)
