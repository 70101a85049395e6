"""The one command: `python resources/demo/train --out DIR`, or `python -m train` beside it."""

import os
import sys
from pathlib import Path


def run() -> int:
    """Run with the package's parent on the path in place of the package itself."""
    # One thread each for two processes is faster than two threads each.
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    from train.commands import main

    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
