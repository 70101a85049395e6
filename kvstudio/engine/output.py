"""Keeps the protocol's pipe clean: what the model, its libraries or a fork print goes elsewhere."""

import io
import os
import sys
import threading
from collections.abc import Callable
from typing import TextIO

Listener = Callable[[str, str], None]


def take_over_stdout() -> TextIO:
    """The real standard output, for messages; anything else that prints now goes to stderr."""
    sys.stdout.flush()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return protocol


def capture(descriptor: int, name: str, listener: Listener) -> threading.Thread:
    """Sends every line written to a file descriptor to `listener(name, line)`, even by C code."""
    reading, writing = os.pipe()
    os.dup2(writing, descriptor)
    os.close(writing)

    def listen() -> None:
        with os.fdopen(reading, "r", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                listener(name, line.rstrip("\n"))

    thread = threading.Thread(target=listen, name=f"kvstudio {name}", daemon=True)
    thread.start()
    return thread
