"""Arrays in a file that is there whole or not at all, so that a run can be stopped anywhere."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write an `.npz` with these arrays, or lists of numbers or strings, by name."""
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    with unfinished.open("wb") as file:
        np.savez(file, **arrays)
    unfinished.replace(path)
