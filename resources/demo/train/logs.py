"""One log for all processes of a run: on the screen and in a file."""

import logging
import sys
from pathlib import Path


def log_to(path: Path) -> None:
    """Say everything twice: to whoever watches, and to `path`, behind what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(message)s",
        handlers=[logging.StreamHandler(sys.stdout), logging.FileHandler(path)],
        force=True,
    )
    logging.getLogger("pocket_tts").setLevel(logging.WARNING)
