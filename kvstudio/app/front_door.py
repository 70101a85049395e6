"""Checks made before the first Qt import, so that a bad installation ends in words.

Nothing here may import Qt.
"""

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Mapping

OLDEST_PYTHON = (3, 10)
NEWEST_PYTHON = (3, 13)
FIRST_BAD_PYSIDE = (6, 12)
FIRST_GOOD_PYTHON = (3, 12)


def problem() -> str | None:
    """Why the window cannot open here and what to do about it; None if it can."""
    return (
        python_problem(sys.version_info[:2])
        or missing_problem({name for name in REQUIRED if importlib.util.find_spec(name) is None})
        or pair_problem(sys.version_info[:2], _installed_pyside())
        or display_problem(sys.platform, os.environ)
    )


def python_problem(python: tuple[int, int]) -> str | None:
    if OLDEST_PYTHON <= python <= NEWEST_PYTHON:
        return None
    return (
        f"KVStudio runs on Python {_dotted(OLDEST_PYTHON)} to {_dotted(NEWEST_PYTHON)}, and this "
        f"is Python {_dotted(python)} ({sys.executable}). Make an environment with one of those, "
        "for example `python3.12 -m venv .venv`, and install KVStudio in it."
    )


def missing_problem(missing: set[str]) -> str | None:
    if not missing:
        return None
    names = " and ".join(sorted(REQUIRED[each] for each in missing))
    packages = " ".join(sorted(REQUIRED[each] for each in missing))
    return (
        f"The window needs {names}, not installed in this Python ({sys.executable}). "
        f"Install with `{sys.executable} -m pip install {packages}`, or install KVStudio again."
    )


def pair_problem(python: tuple[int, int], pyside: tuple[int, ...]) -> str | None:
    # WORKAROUND: PySide6 6.12.0 loses a reference to None or True at each call on
    # Python 3.10 and 3.11, and the process aborts after about 2,000 signals.
    if python >= FIRST_GOOD_PYTHON or pyside[:2] < FIRST_BAD_PYSIDE:
        return None
    return (
        f"PySide6 {_dotted(pyside)} does not work on Python {_dotted(python)}: the pair crashes "
        "after some minutes. Either install an older one, "
        f'`{sys.executable} -m pip install "PySide6<6.12"`, or use Python 3.12 or newer.'
    )


def display_problem(platform: str, environment: Mapping[str, str]) -> str | None:
    """Qt aborts the process where there is no display; words are kinder."""
    if not platform.startswith("linux") or any(map(environment.get, DISPLAYS)):
        return None
    return (
        "There is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set. "
        "Over ssh, connect with `ssh -X`; without any display use `kvstudio record` and "
        "`kvstudio check`, and open the recording on another machine."
    )


DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
REQUIRED = {"PySide6": "PySide6", "pyqtgraph": "pyqtgraph"}


def _installed_pyside() -> tuple[int, ...]:
    for package in ("PySide6-Essentials", "PySide6"):
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
    return ()


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
