"""`kvstudio selftest`: rows of the engine, for a reader and for a program."""

import json
from typing import Any

import pytest

from kvstudio.cli import selftest_command
from tests.cli.conftest import Kvstudio

FOUND = {
    "recipe": "poke-nan@6",
    "model": "demo",
    "expected": "nan-produced",
    "found": ["nan-produced"],
    "frame_ok": True,
    "slot_ok": True,
    "ok": True,
    "says": "",
}
MISSED = {**FOUND, "recipe": "hush@6", "found": ["hole", "hole"], "ok": False, "says": "not found"}


def engine(monkeypatch: pytest.MonkeyPatch, *rows: dict[str, Any]) -> list[list[str]]:
    """Stands in for the engine; what it is asked for."""
    asked: list[list[str]] = []

    def measured(arguments: list[str]) -> dict[str, Any]:
        asked.append(arguments)
        return {"ok": all(row["ok"] for row in rows), "rows": list(rows)}

    monkeypatch.setattr(selftest_command, "measured", measured)
    return asked


def test_all_found(kvstudio_command: Kvstudio, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = engine(monkeypatch, FOUND)
    assert kvstudio_command("selftest") == (0, "1 of 1 as expected\n", "")
    assert asked == [[]]


def test_one_missed(kvstudio_command: Kvstudio, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = engine(monkeypatch, FOUND, MISSED)
    told = kvstudio_command("selftest", "poke-nan", "lost-write:layer=2@4", "--all")
    assert told.code == 1
    assert told.out == (
        "demo: hush@6 should give nan-produced, gave hole (not found)\n1 of 2 as expected\n"
    )
    assert asked == [["poke-nan", "lost-write:layer=2@4", "--all"]]
    told = kvstudio_command("selftest", "--json")
    assert json.loads(told.out) == {"ok": False, "rows": [FOUND, MISSED]}


def test_a_recipe_that_is_not_there(kvstudio_command: Kvstudio) -> None:
    told = kvstudio_command("selftest", "poke-nun@4")
    assert (told.code, told.out) == (2, "")
    assert "unknown recipe 'poke-nun': did you mean poke-nan" in told.err


def test_the_engine_itself(kvstudio_command: Kvstudio) -> None:
    told = kvstudio_command("selftest", "no-expansion", "--json")
    report = json.loads(told.out)
    assert (told.code, report["ok"]) == (0, True)
    assert [row["recipe"] for row in report["rows"]] == ["healthy", "no-expansion@1"]
    assert "ok   demo  no-expansion@1  capacity-exceeded" in told.err
