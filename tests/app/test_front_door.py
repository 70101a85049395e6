"""What is refused before the first Qt import, and in which words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kvstudio.app import front_door


def test_this_installation_is_fine() -> None:
    assert front_door.problem() is None


@pytest.mark.parametrize("python", [(3, 9), (3, 14)])
def test_another_python_is_refused(python: tuple[int, int]) -> None:
    said = front_door.python_problem(python)
    assert said is not None
    assert "3.10 to 3.13" in said
    assert ".".join(map(str, python)) in said
    assert "venv" in said


@pytest.mark.parametrize("python", [(3, 10), (3, 11), (3, 12), (3, 13)])
def test_the_pythons_we_promise_are_let_in(python: tuple[int, int]) -> None:
    assert front_door.python_problem(python) is None


@pytest.mark.parametrize(
    ("python", "pyside", "refused"),
    [
        ((3, 10), (6, 12, 0), True),
        ((3, 11), (6, 12, 1), True),
        ((3, 11), (7, 0, 0), True),
        ((3, 11), (6, 11, 3), False),
        ((3, 12), (6, 12, 0), False),
        ((3, 13), (6, 13, 0), False),
    ],
)
def test_the_pair_that_crashes_is_refused(
    python: tuple[int, int], pyside: tuple[int, ...], refused: bool
) -> None:
    said = front_door.pair_problem(python, pyside)
    assert (said is not None) == refused
    if said is not None:
        assert "PySide6<6.12" in said
        assert "Python 3.12" in said


def test_missing_packages_are_named_with_the_way_to_get_them() -> None:
    said = front_door.missing_problem({"PySide6", "pyqtgraph"})
    assert said is not None
    assert "pip install PySide6 pyqtgraph" in said
    assert front_door.missing_problem(set()) is None


@pytest.mark.parametrize(
    ("platform", "environment", "refused"),
    [
        ("linux", {}, True),
        ("linux", {"DISPLAY": ""}, True),
        ("linux", {"DISPLAY": ":0"}, False),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, False),
        ("linux", {"QT_QPA_PLATFORM": "offscreen"}, False),
        ("darwin", {}, False),
        ("win32", {}, False),
    ],
)
def test_no_display_is_said_before_qt_aborts(
    platform: str, environment: dict[str, str], refused: bool
) -> None:
    said = front_door.display_problem(platform, environment)
    assert (said is not None) == refused
    assert said is None or "kvstudio record" in said


def test_the_door_is_passed_before_qt_is_imported() -> None:
    code = "import sys, kvstudio.app.front_door as d; d.problem(); print('PySide6' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
