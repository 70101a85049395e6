"""Opens the window and sees to it that everything ends in order.

1. The front door: a bad installation is refused in words, before Qt is imported.
2. The window is shown; only then is the engine started, which takes seconds to import torch.
3. After the event loop: the window is deleted, then the engine is gone, then the application.
"""

import sys
from pathlib import Path

from kvstudio.app import front_door


def run(path: Path | None = None, demo: bool = False, python: str | None = None) -> int:
    """Runs the window to its end.

    Args:
        path: a recording to open.
        demo: start a run of the embedded demo model, held before its text prefill.
        python: the interpreter, or the folder of its environment, that runs the engine.

    Returns:
        The exit code: 0, or 2 if the window cannot open here.
    """
    problem = front_door.problem()
    if problem is not None:
        sys.stderr.write(f"{problem}\n")
        return 2
    from kvstudio.app.running import run_window

    return run_window(path, demo, python)
