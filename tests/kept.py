"""Things too dear to make in every session: full-size weights, environments of other releases.

They are kept in the system's folder for temporary files (or in `KVSTUDIO_TEST_CACHE`), each in a
folder named after all that went into it, and swept out when nobody has asked for a while.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from kvstudio.paths import resources
from tests import models

RELEASES = ("2.0.0", "2.1.0", "3.3.0", "4.0.1")
_UNUSED_SECONDS = 2 * 24 * 3600


class Release(NamedTuple):
    """One pocket-tts release with a tiny model that fits it.

    Attributes:
        python: the interpreter of its environment, in which kvstudio itself is not installed.
        config: of a tiny model with random weights that never ends by itself.
        voice: an audio file.
    """

    python: Path
    config: Path
    voice: Path


def model(name: str, *, seed: int = 0, eos_bias: float = models.NEVER_ENDS) -> Path:
    """The config of `models.build(name)`, built now or by an earlier session."""
    ingredients = (seed, eos_bias, version("pocket-tts"), version("torch"), _builder())

    def make(folder: Path) -> None:
        models.build(name, folder, seed=seed, eos_bias=eos_bias)

    return _kept(name, ingredients, make) / "config.yaml"


def release(number: str) -> Release:
    """An environment with that pocket-tts release; all else, torch above all, is borrowed."""
    borrowed = sysconfig.get_paths()["purelib"]

    def make(folder: Path) -> None:
        _run(sys.executable, "-m", "venv", folder / "venv")
        python = folder / "venv" / "bin" / "python"
        packages = _run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])")
        (Path(packages.strip()) / "borrowed.pth").write_text(borrowed, encoding="utf-8")
        _run(python, "-m", "pip", "install", "--quiet", f"pocket-tts=={number}")
        _run(python, models.__file__, models.TINY, folder / "model")

    folder = _kept(f"release-{number}", (borrowed, version("torch"), _builder()), make)
    return Release(
        folder / "venv" / "bin" / "python",
        folder / "model" / "config.yaml",
        resources() / "demo" / "voices" / "low.wav",
    )


def _builder() -> bytes:
    return Path(models.__file__).read_bytes()


def _run(*command: str | Path) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _kept(name: str, ingredients: tuple[object, ...], make: Callable[[Path], None]) -> Path:
    key = hashlib.sha256(repr((ingredients, sys.version)).encode()).hexdigest()[:16]
    shelf = _shelf()
    folder = shelf / f"{name}-{key}"
    complete = folder / "complete"
    # Two workers, or two sessions, may want the same thing at once.
    with (shelf / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _sweep(shelf, name)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
        complete.touch()
    return folder


def _shelf() -> Path:
    chosen = os.environ.get("KVSTUDIO_TEST_CACHE")
    shelf = Path(chosen or Path(tempfile.gettempdir()) / f"kvstudio-tests-{os.getuid()}")
    shelf.mkdir(parents=True, exist_ok=True)
    return shelf


def _sweep(shelf: Path, name: str) -> None:
    for complete in shelf.glob(f"{name}-*/complete"):
        if complete.stat().st_mtime < time.time() - _UNUSED_SECONDS:
            shutil.rmtree(complete.parent)
