"""Where KVStudio's own files lie: `resources/`, in a checkout or inside the installed package."""

import atexit
import functools
import importlib.resources
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Traversable

_PACKAGE = Path(__file__).resolve().parent


def resources() -> Path:
    """The folder of the demo model, voices and icons.

    `KVSTUDIO_RESOURCES` overrides it: an engine in another interpreter sees only a few rooms of
    the package and is told this way where the rest lies. A package that is imported from a zip
    archive is unpacked as far as need be, until the process ends.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    override = os.environ.get("KVSTUDIO_RESOURCES")
    candidates = (
        [Path(override)] if override else [_PACKAGE / "resources", _PACKAGE.parent / "resources"]
    )
    for folder in candidates:
        if _has_demo(folder):
            return folder
    if not override and _has_demo(_packed()):
        return _unpacked()
    raise FileNotFoundError(
        f"KVStudio's resources are missing: looked in {', '.join(map(str, candidates))}. "
        "Install KVStudio again."
    )


def _packed() -> "Traversable":
    return importlib.resources.files("kvstudio") / "resources"


def _has_demo(folder: "Traversable") -> bool:
    return (folder / "demo" / "config.yaml").is_file()


@functools.cache
def _unpacked() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="kvstudio-resources-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _unpack(_packed(), folder)
    return folder


def _unpack(packed: "Traversable", folder: Path) -> None:
    for item in packed.iterdir():
        target = folder / item.name
        if item.is_dir():
            target.mkdir()
            _unpack(item, target)
        else:
            target.write_bytes(item.read_bytes())
