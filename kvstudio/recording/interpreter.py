"""How to start the engine in the Python of the user's choice.

The engine runs in the window's own interpreter or, to debug a fork in its own environment, in
another one. The other one sees only the rooms that the engine is made of, copied to a folder of
their own: with our site-packages on its path it would load our torch instead of its own.
"""

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kvstudio.paths import resources
from kvstudio.recording.errors import SpecError

PACKAGE = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "analysis", "recording")
MODULES = ("__init__.py", "paths.py")
# What `-m kvstudio.engine` does, but a `torch.py` of the current folder is never imported: Python
# 3.10 does not know PYTHONSAFEPATH.
BOOT = (
    "import sys; sys.path[:] = [each for each in sys.path if each]; "
    "from kvstudio.engine.__main__ import main; sys.exit(main())"
)
# Variables that tie a Python to one installation.
OURS_ALONE = ("PYTHONHOME", "__PYVENV_LAUNCHER__", "VIRTUAL_ENV")


class EngineCommand(NamedTuple):
    """What to start; `cleanup` is called once the process has ended."""

    argv: list[str]
    environment: dict[str, str]
    cleanup: Callable[[], None]


def engine_command(python: str | None = None) -> EngineCommand:
    """The command that starts the engine in `python`; by default in this interpreter.

    Args:
        python: path or name of an interpreter, or the folder of a virtual environment.

    Raises:
        SpecError: there is no such interpreter.
    """
    interpreter = sys.executable if python is None else find_interpreter(python)
    argv = [interpreter, "-c", BOOT]
    # The protocol is UTF-8 everywhere.
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    if _is_this_one(interpreter):
        _show_checkout(environment)
        return EngineCommand(argv, environment, _nothing_to_clean)
    folder = Path(tempfile.mkdtemp(prefix="kvstudio-engine-"))
    _copy_rooms(folder / "kvstudio")
    _show_only(folder, environment)
    return EngineCommand(argv, environment, lambda: shutil.rmtree(folder, ignore_errors=True))


def find_interpreter(python: str) -> str:
    """The full path of an interpreter; raises SpecError if there is none."""
    given = Path(python).expanduser()
    places = [given / "bin" / "python", given / "Scripts" / "python.exe"]
    for candidate in places if given.is_dir() else [given]:
        found = shutil.which(candidate)
        if found is not None:
            return os.path.abspath(found)
    raise SpecError(
        f"there is no Python at {python}: give the path of an interpreter, such as "
        "/path/to/venv/bin/python, or the folder of a virtual environment"
    )


def _is_this_one(interpreter: str) -> bool:
    # Not by real path alone: the interpreters of two environments are links to the same file.
    ours = Path(os.path.abspath(sys.executable))
    theirs = Path(interpreter)
    return theirs.parent == ours.parent and theirs.resolve() == ours.resolve()


def _show_checkout(environment: dict[str, str]) -> None:
    """Lets our own interpreter find a package that runs from a checkout without installation."""
    if not _is_ours(str(PACKAGE.parent)):
        known = environment.get("PYTHONPATH")
        parts = [str(PACKAGE.parent), *([known] if known else [])]
        environment["PYTHONPATH"] = os.pathsep.join(parts)


def _show_only(folder: Path, environment: dict[str, str]) -> None:
    for name in OURS_ALONE:
        environment.pop(name, None)
    known = environment.get("PYTHONPATH", "").split(os.pathsep)
    theirs = [each for each in known if each and not _is_ours(each)]
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *theirs])
    environment["KVSTUDIO_RESOURCES"] = str(resources())


def _is_ours(folder: str) -> bool:
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return os.path.abspath(folder) in {os.path.abspath(each) for each in ours}


def _copy_rooms(target: Path) -> None:
    for name in MODULES:
        _copy(PACKAGE / name, target / name)
    for room in ROOMS:
        for source in (PACKAGE / room).rglob("*.py"):
            _copy(source, target / source.relative_to(PACKAGE))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _nothing_to_clean() -> None:
    pass
