"""A process that speaks the engine's protocol from a script, for tests of the process handling.

Run as `python stand_in.py STEP...`; after the steps it answers each command with a log line until
its input ends or it is told to shut down.
"""

import json
import os
import signal
import sys
import time


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def tell(event: str, **fields: object) -> None:
    write(json.dumps({"event": event, **fields}) + "\n")


def act(step: str) -> None:
    name, _, argument = step.partition("=")
    if name == "ready":
        tell("ready", languages=["english"], pid=os.getpid())
        tell("state", state="empty", words="")
    elif name == "half":
        write('{"event": "sta')
        time.sleep(0.05)
        write('te", "state": "loaded", "words": "in two pieces"}\n')
    elif name == "say":
        write(argument + "\n")
    elif name == "error":
        sys.stderr.write(argument + "\n")
        sys.stderr.flush()
    elif name == "exit":
        sys.exit(int(argument))
    elif name == "kill":
        os.kill(os.getpid(), getattr(signal, argument))
    elif name == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)


def main() -> None:
    for step in sys.argv[1:]:
        act(step)
    for line in sys.stdin:
        if '"shut_down"' in line:
            return
        tell("log", stream="heard", text=line.strip())


if __name__ == "__main__":
    main()
