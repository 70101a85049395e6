"""Where KVStudio's own files lie: `resources/`, in a checkout or inside the installed package."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resources() -> Path:
    """The folder of the demo model, voices and icons.

    `KVSTUDIO_RESOURCES` overrides it: an engine in another interpreter sees only a few rooms of
    the package and is told this way where the rest lies.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    override = os.environ.get("KVSTUDIO_RESOURCES")
    candidates = (
        [Path(override)] if override else [_PACKAGE / "resources", _PACKAGE.parent / "resources"]
    )
    for folder in candidates:
        if (folder / "demo" / "config.yaml").is_file():
            return folder
    raise FileNotFoundError(
        f"KVStudio's resources are missing: looked in {', '.join(map(str, candidates))}. "
        "Install KVStudio again."
    )
