"""The command that starts an engine, in our own interpreter and in others."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kvstudio.paths import resources
from kvstudio.recording.errors import SpecError
from kvstudio.recording.interpreter import BOOT, engine_command, find_interpreter

PRINT_PATHS = "import sys, kvstudio, kvstudio.paths as p; print(kvstudio.__file__, p.resources())"


@pytest.fixture
def other_python(tmp_path: Path) -> Path:
    """An environment without any package in it, made by hand because that is quick."""
    home = Path(sys.base_prefix) / "bin"
    folder = tmp_path / "fork" / "bin"
    folder.mkdir(parents=True)
    (tmp_path / "fork" / "pyvenv.cfg").write_text(f"home = {home}\n", encoding="utf-8")
    (folder / "python").symlink_to(Path(sys.executable).resolve())
    return folder / "python"


def test_our_own_interpreter_runs_the_package_as_it_is() -> None:
    command = engine_command(None)
    assert command.argv == [sys.executable, "-c", BOOT]
    assert "KVSTUDIO_RESOURCES" not in command.environment
    assert command.environment["PYTHONIOENCODING"] == "utf-8"
    command.cleanup()


def test_our_own_interpreter_by_its_path_is_no_other() -> None:
    assert engine_command(sys.executable) == engine_command(None)


def test_a_package_in_a_checkout_is_found_from_any_folder(tmp_path: Path) -> None:
    environment = engine_command(None).environment
    found = subprocess.run(
        [sys.executable, "-S", "-c", "import kvstudio; print(kvstudio.__file__)"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.stdout.strip().endswith(os.path.join("kvstudio", "__init__.py")), found.stderr


def test_another_interpreter_sees_the_rooms_and_none_of_our_packages(
    other_python: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours, theirs = sysconfig.get_path("purelib"), tmp_path / "their-fork"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([ours, str(theirs)]))
    command = engine_command(str(other_python))
    assert command.argv == [str(other_python), "-c", BOOT]
    paths = command.environment["PYTHONPATH"].split(os.pathsep)
    assert ours not in paths
    assert paths[1:] == [str(theirs)]
    rooms = {each.name for each in (Path(paths[0]) / "kvstudio").iterdir()}
    assert rooms == {"__init__.py", "paths.py", "engine", "analysis", "recording"}
    found = subprocess.run(
        [str(other_python), "-c", PRINT_PATHS],
        cwd=tmp_path, env=command.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.split() == [
        str(Path(paths[0]) / "kvstudio" / "__init__.py"),
        str(resources()),
    ]
    command.cleanup()
    assert not Path(paths[0]).exists()


def test_the_folder_of_an_environment_is_enough(other_python: Path) -> None:
    assert find_interpreter(str(other_python.parent.parent)) == str(other_python)


def test_a_name_on_the_path_is_enough() -> None:
    assert Path(find_interpreter("python3")).is_absolute()


@pytest.mark.parametrize("what", ["missing", "a folder", "not executable"])
def test_what_is_no_interpreter_is_said(what: str, tmp_path: Path) -> None:
    target = tmp_path / "python"
    if what == "a folder":
        target.mkdir()
    elif what == "not executable":
        target.write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"there is no Python at .*give the path"):
        engine_command(str(target))
