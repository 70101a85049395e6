"""What `kvstudio bench` makes of the rows that the two benches measure."""

import json
from pathlib import Path

import pytest

import kvstudio.cli.bench_command
from tests.cli.conftest import Kvstudio

ROWS = [
    {"name": "quick", "value": 0.5, "unit": "s", "budget": 1.0, "ok": True},
    {"name": "slow enough", "value": 1.25, "unit": "ratio", "budget": 1.03, "ok": False},
    {"name": "a fact", "value": 7.0, "unit": "ms", "budget": None, "ok": True},
]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the modules that stand in for the benches; each measures some of the rows."""
    for name, rows in {"first_bench": ROWS[:1], "second_bench": ROWS[1:]}.items():
        written = json.dumps({"rows": rows})
        script = f"import sys\nsys.stderr.write('chatter\\n')\nprint('{written}')"
        (tmp_path / f"{name}.py").write_text(script, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    benches = {"one thing": "first_bench", "another thing": "second_bench"}
    monkeypatch.setattr(kvstudio.cli.bench_command, "MEASURED", benches)
    return tmp_path


def test_rows_of_both_are_one_object(kvstudio_command: Kvstudio, measured: Path) -> None:
    told = kvstudio_command("bench", "--json")
    assert (told.code, json.loads(told.out)) == (0, {"rows": ROWS})
    assert "measuring one thing\nchatter\nmeasuring another thing\nchatter\n" in told.err


def test_rows_for_a_reader(kvstudio_command: Kvstudio, measured: Path) -> None:
    assert kvstudio_command("bench").out.splitlines() == [
        "quick            0.500 s  at most 1",
        "slow enough      1.250 ratio  at most 1.03  MISSED",
        "a fact           7.000 ms",
    ]


def test_a_bench_that_fails_is_said(kvstudio_command: Kvstudio, measured: Path) -> None:
    (measured / "second_bench.py").write_text("raise SystemExit(7)")
    told = kvstudio_command("bench", "--json")
    assert (told.code, told.out) == (2, "")
    assert "could not measure another thing: exit code 7, see above" in told.err
