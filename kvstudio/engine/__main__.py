"""The engine process.

    python -m kvstudio.engine                                 serve a window
    python -m kvstudio.engine run --spec S.json --out O.kvrec    run one spec to its end

Serving, it speaks the protocol over standard input and output. `run` tells its progress on standard
error and ends with 0 (done), 2 (bad usage or input) or 3 (the run failed).
"""

import argparse
import faulthandler
import io
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TextIO

# The plain download can be shown byte by byte and cancelled; the other one cannot.
os.environ.setdefault("HF_HUB_DISABLE_XET", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m kvstudio.engine", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run", help="run one spec to its end")
    run.add_argument("--spec", type=Path, required=True)
    run.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("huggingface_hub").propagate = False  # it tells everything itself
    if arguments.command == "run":
        from kvstudio.engine.headless import run_spec

        return run_spec(arguments.spec, arguments.out)
    return serve()


def serve() -> int:
    from kvstudio.engine.output import Capture, flush_output, take_over_stdout
    from kvstudio.recording.protocol import State

    out = take_over_stdout()
    out.write(State("starting", "importing torch").to_line())
    # Importing torch and pocket-tts takes seconds, so the window hears of the engine before it.
    from kvstudio.engine.server import Server

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the window, which ends us
    faulthandler.enable(file=os.dup(2))  # a crash is told to whoever started us
    captures: list[Capture] = []

    def drain() -> None:
        flush_output()
        for each in captures:
            each.drain()

    server = Server(out, drain)
    captures += [Capture(1, "stdout", server.log), Capture(2, "stderr", server.log)]
    server.serve(_lines(sys.stdin))
    out.flush()
    # Threads of the model may hang in a native call; the recording is closed, so leave at once.
    os._exit(0)


def _lines(stdin: TextIO) -> TextIO:
    """Standard input, in which even what is no text is a line and gets its answer."""
    if isinstance(stdin, io.TextIOWrapper):
        stdin.reconfigure(encoding="utf-8", errors="replace")
    return stdin


if __name__ == "__main__":
    sys.exit(main())
