"""The engine with a model that prints in every way there is, for as long as it decodes.

A fork may print what it likes: none of it may reach the protocol, all of it must reach the log.
"""

import ctypes
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from pocket_tts.models.mimi import MimiModel

LIKE_A_MESSAGE = '{"event": "state", "state": "dead", "words": "lies"}'
LONG = "long " * 5000


def make_noise(call: int) -> None:
    sys.stdout.write(f"printed {call}\n")
    sys.stdout.write(f"{LIKE_A_MESSAGE}\n")
    sys.stderr.write(f"printed to stderr {call}\n")
    os.write(1, f"written to 1 in {call}\n".encode())
    os.write(2, f"written to 2 in {call}\n".encode())
    ctypes.CDLL(None).printf(f"from C {call}\n".encode())
    logging.getLogger("fork").warning("logged %d", call)
    warnings.warn(f"warned {call}", stacklevel=1)
    if call == 1:
        os.write(1, b"not UTF-8: \xff\xfe\n")
        os.write(1, LONG.encode() + b"\n")
        os.write(2, b"  10%|#\r  50%|#####\r 100%|##########\n")
    if call == 2:
        os.write(1, b"nobody ends this line")


def decode_noisily(decode: Any) -> Any:  # noqa: ANN401
    calls = 0

    def decode_from_latent(*args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        make_noise(calls)
        return decode(*args, **kwargs)

    return decode_from_latent


if __name__ == "__main__":
    from kvstudio.engine.__main__ import main

    MimiModel.decode_from_latent = decode_noisily(MimiModel.decode_from_latent)
    sys.argv = sys.argv[:1]
    sys.exit(main())
