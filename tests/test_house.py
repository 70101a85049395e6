"""The house: which room may import what, how large its files may grow, what lies at its door."""

import ast
import fnmatch
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*ROOT.glob("kvstudio/**/*.py"), *ROOT.glob("tests/**/*.py"), ROOT / "main.py"])
FILE_LINES = 300
TEST_FILE_LINES = 650  # cases stand one after another, and a list of them is read like one
FUNCTION_LINES = 50
AT_THE_DOOR = {
    ".ci",
    ".git",
    ".gitignore",
    "README.md",
    "kvstudio",
    "main.py",
    "pyproject.toml",
    "resources",
    "tests",
}

# Imports every module below the given one and tells what else came along.
IMPORT_ALL = """
import importlib, json, pkgutil, sys
room = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(getattr(room, "__path__", []), room.__name__ + "."):
    importlib.import_module(module.name)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.mark.parametrize(
    ("room", "unwanted"),
    [
        ("kvstudio.recording", {"torch", "pocket_tts", "PySide6", "pyqtgraph", "soundfile"}),
        ("kvstudio.analysis", {"torch", "pocket_tts", "PySide6", "pyqtgraph", "soundfile"}),
        ("kvstudio.app", {"torch", "pocket_tts", "scipy"}),
        ("kvstudio.engine", {"PySide6", "pyqtgraph"}),
    ],
)
def test_room_brings_nothing_unwanted_along(room: str, unwanted: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, room], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not unwanted & set(json.loads(done.stdout))


def test_walls_stand() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_is_too_long() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in SOURCES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > _most_lines(path)
    }
    assert not long


def test_no_function_is_too_long() -> None:
    long = {where: lines for path in SOURCES for where, lines in _functions(path)}
    assert not {where: lines for where, lines in long.items() if lines > FUNCTION_LINES}


def _most_lines(path: Path) -> int:
    return TEST_FILE_LINES if path.is_relative_to(ROOT / "tests") else FILE_LINES


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
            yield where, (node.end_lineno or node.lineno) - node.lineno + 1


def test_nothing_else_lies_at_the_door() -> None:
    ignored = [
        line.rstrip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    ]
    assert not {
        entry.name
        for entry in ROOT.iterdir()
        if entry.name not in AT_THE_DOOR
        and not any(fnmatch.fnmatch(entry.name, pattern) for pattern in ignored)
    }
