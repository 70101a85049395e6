"""Engines that die in the middle of a run, many of them for the price of one start.

    python mortal_engines.py CONFIG FOLDER (kill | segfault | exit)...

The model is loaded once; each engine is a fork that serves one run over a pipe of its own. `kill`
ends it from outside at a random moment, the other two let the model's own code do it. One line of
JSON for each: how it ended, and which frames it had reported.
"""

import ctypes
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parents[2]))

from kvstudio.engine.server import Server
from kvstudio.engine.session import Session
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording import protocol as p
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.driving import start
from tests.engine.running import session_with

LATEST_FRAME = 8
FRAME_S = 0.03
DEADLY_CALL = 4


def main(config: str, folder: str, *ends: str) -> None:
    source = ModelSource("config", config)
    voice = str(Path(config).with_name("voice.safetensors"))
    session = session_with(source, voice)
    chance = random.Random(2026)
    for number, how in enumerate(ends):
        spec = RunSpec(model=source, voice=voice, text="One two three.", seed=number)
        path = Path(folder) / f"{number}.kvrec"
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            live(session, spec, path, writing, how)
        os.close(writing)
        moment = (chance.randrange(LATEST_FRAME), chance.uniform(0, 1.5 * FRAME_S))
        ending = watch(child, reading, moment if how == "kill" else None)
        sys.stdout.write(json.dumps({"path": str(path), **ending}) + "\n")


def live(session: Session, spec: RunSpec, path: Path, writing: int, how: str) -> NoReturn:
    """One engine's life."""
    server = Server(os.fdopen(writing, "w"))
    server.session = session

    def commands() -> Iterator[str]:
        yield start(spec, path).to_line()
        while server._gate is None:
            time.sleep(0.001)
        yield p.Run().to_line()
        time.sleep(60)

    assert session.tts is not None
    calls = 0

    def deadly(original: object, *args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        if calls == DEADLY_CALL and how != "kill":
            ctypes.string_at(0) if how == "segfault" else os._exit(3)
        assert callable(original)
        return original(*args, **kwargs)

    with wrapped(session.tts.mimi.quantizer, "forward", deadly):
        server.serve(commands())
    os._exit(0)


def watch(child: int, reading: int, moment: tuple[int, float] | None) -> dict[str, object]:
    """Waits for the engine's end, and brings it about a while after a frame was reported."""
    reported = []
    with os.fdopen(reading) as events:
        for line in events:
            event = p.parse_event(line)
            if isinstance(event, p.FrameAdded):
                reported.append(event.frame)
                if moment and event.frame == moment[0]:
                    time.sleep(moment[1])
                    os.kill(child, signal.SIGKILL)
                    moment = None
    _, status = os.waitpid(child, 0)
    return {"reported": reported, "code": os.waitstatus_to_exitcode(status)}


if __name__ == "__main__":
    main(*sys.argv[1:])
