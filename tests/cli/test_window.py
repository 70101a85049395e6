"""How the command line opens the window, and what it does not import on the way."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kvstudio.app import start
from tests.cli.conftest import Kvstudio


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What the window was opened with."""
    calls: list[tuple[object, ...]] = []

    def run(*arguments: object) -> int:
        calls.append(arguments)
        return 0

    monkeypatch.setattr(start, "run", run)
    return calls


def test_no_command_opens_the_window(command: Kvstudio, opened: list[tuple[object, ...]]) -> None:
    assert command().code == 0
    assert command("--demo").code == 0
    assert command("--python", "/opt/fork", "--demo").code == 0
    assert opened == [(None, False, None), (None, True, None), (None, True, "/opt/fork")]


def test_a_file_opens_in_the_window(
    command: Kvstudio,
    opened: list[tuple[object, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "a.kvrec"
    file.touch()
    assert command(file).code == 0
    assert command("--python", "/opt/fork", file).code == 0
    monkeypatch.chdir(tmp_path)
    file.rename("check")  # a file named like a command is opened by its path
    assert command("./check").code == 0
    assert opened == [
        (file, False, None),
        (file, False, "/opt/fork"),
        (Path("check"), False, None),
    ]


def test_the_code_of_the_window_is_the_command_s(
    command: Kvstudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "run", lambda *_: 2)
    assert command().code == 2


@pytest.mark.parametrize(
    "arguments", [["recrod"], ["missing.kvrec"], ["--demo", __file__], ["--nonsense"]], ids=" ".join
)
def test_what_makes_no_sense_opens_no_window(
    command: Kvstudio, opened: list[tuple[object, ...]], arguments: list[str]
) -> None:
    assert command(*arguments).code == 2
    assert opened == []


LIGHT = """
import json, sys
{}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""


@pytest.mark.parametrize(
    ("does", "unwanted"),
    [
        ("import kvstudio.cli", {"torch", "PySide6", "numpy", "scipy", "soundfile", "pocket_tts"}),
        ("import kvstudio", {"torch", "PySide6", "numpy", "sqlite3", "typer"}),
        (
            "import kvstudio.cli, kvstudio.analysis.report",
            {"torch", "PySide6", "scipy", "soundfile", "pocket_tts"},
        ),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(does: str, unwanted: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(does)], capture_output=True, text=True, check=True
    )
    assert not unwanted & set(json.loads(done.stdout))
