"""Keeps the protocol's pipe clean: what the model, its libraries or a fork print goes elsewhere."""

import ctypes
import io
import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

Listener = Callable[[str, str], None]
PIECE = 65536
LONGEST_LINE = 8192  # bytes; what is longer is told in parts
UNFINISHED_S = 0.3  # a line that nobody ends is told after so long
DRAIN_S = 2.0


def take_over_stdout() -> TextIO:
    """The real standard output, for messages; anything else that prints now goes to stderr."""
    sys.stdout.flush()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return protocol


class Capture:
    """Sends every line written to a file descriptor to `listener(name, line)`, even by C code."""

    def __init__(self, descriptor: int, name: str, listener: Listener) -> None:
        self._name, self._listener = name, listener
        self._reading, writing = os.pipe()
        os.dup2(writing, descriptor)
        os.close(writing)
        self._descriptor = descriptor
        self._mark = f"\0all of {name}".encode()  # nobody else prints a NUL
        self._drained = threading.Event()
        threading.Thread(target=self._listen, name=f"kvstudio {name}", daemon=True).start()

    def drain(self) -> None:
        """Waits until all that has been written so far has been given to the listener."""
        self._drained.clear()
        with suppress(OSError):  # the model has closed it
            os.write(self._descriptor, self._mark + b"\n")
            self._drained.wait(DRAIN_S)

    # ---- private ------------------------------------------------------------------------------

    def _listen(self) -> None:
        rest = b""
        while True:
            if rest and not self._goes_on():
                self._tell(rest)
                rest = b""
            piece = os.read(self._reading, PIECE)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._tell_line(line)
            if len(rest) > LONGEST_LINE:
                self._tell(rest)
                rest = b""

    def _goes_on(self) -> bool:
        if os.name == "nt":  # a pipe cannot be waited for there
            return True
        return bool(select.select([self._reading], [], [], UNFINISHED_S)[0])

    def _tell_line(self, line: bytes) -> None:
        if not line.endswith(self._mark):
            self._tell(line)
            return
        if line != self._mark:
            self._tell(line.removesuffix(self._mark))
        self._drained.set()

    def _tell(self, line: bytes) -> None:
        # A progress bar overwrites itself after each carriage return; its last state is told.
        text = line.decode("utf-8", "replace").rstrip("\r").rpartition("\r")[2]
        self._listener(self._name, text)


def flush_output() -> None:
    """Makes what Python and C still keep back arrive."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    with suppress(OSError, TypeError):  # where there is no C library of that kind
        ctypes.CDLL(None).fflush(None)
