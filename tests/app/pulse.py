"""A sound server of the test's own, whose loudspeaker is a recording.

Nothing of the machine's own sound is touched: the daemon has its own home, socket and runtime
folder, and no hardware.
"""

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np
import pytest
from numpy.typing import NDArray

PROGRAMS = ("pulseaudio", "parec", "pactl")
PATIENCE_S = 30

Arguments = ParamSpec("Arguments")


def require_programs() -> None:
    """Skip where PulseAudio is missing; in CI that is a failure."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"{', '.join(missing)} must be installed where CI is set")
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: nothing can be heard")


def soundless_environment(folder: Path) -> dict[str, str]:
    """Environment variables under which no sound server of the machine can be found."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PULSE_", "PIPEWIRE_"))}
    (folder / "run").mkdir(mode=0o700, parents=True, exist_ok=True)
    return inherited | {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "PULSE_RUNTIME_PATH": str(folder / "run"),
        "PULSE_SERVER": f"unix:{folder / 'native'}",
        "ALSA_CONFIG_PATH": os.devnull,
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder / 'no-bus'}",
        "QT_QPA_PLATFORM": "offscreen",
    }


class SoundServer:
    """A private PulseAudio daemon with one null sink.

    Args:
        folder: for the daemon's files; short, for a socket's path has at most 107 characters.
        sample_rate: of the sink.
        channels: of the sink.
        form: PulseAudio's name of the sink's sample format.
    """

    def __init__(
        self, folder: Path, sample_rate: int = 24_000, channels: int = 1, form: str = "float32le"
    ) -> None:
        self.environment = soundless_environment(folder)
        self.sample_rate = sample_rate
        self._log = folder / "log"
        self._load = (
            f"module-native-protocol-unix socket={folder / 'native'} auth-anonymous=1",
            f"module-null-sink sink_name=ear rate={sample_rate} channels={channels} format={form}",
        )
        self.start()

    def start(self) -> None:
        options = "-n --daemonize=no --use-pid-file=no --exit-idle-time=-1 --disable-shm=yes"
        options += " --high-priority=no --realtime=no --log-target=stderr"
        modules = [word for module in self._load for word in ("-L", module)]
        with self._log.open("ab") as log:
            self._daemon = subprocess.Popen(
                ["pulseaudio", *options.split(), *modules], env=self.environment, stderr=log
            )
        _hurry(self._daemon)
        wait_until(lambda: self._ask("info").returncode == 0, "the sound server answers")
        self._record()

    def unplug(self) -> None:
        """Take the sink away, as when a USB headset is pulled."""
        self._ask("unload-module", "module-null-sink").check_returncode()

    def restart(self) -> None:
        self.close()
        self.start()

    def close(self) -> None:
        for process in (self._recorder, self._daemon):
            process.kill()
            process.wait()
        self._reader.join()

    def heard(self) -> NDArray[np.float32]:
        """What the sink was made to sound like since the start, with all that was under way."""
        enough = len(self._recorded) + self.sample_rate  # a quarter of a second of float32
        wait_until(lambda: len(self._recorded) >= enough, "the recorder has caught up")
        whole = len(self._recorded) // 4 * 4
        return np.frombuffer(bytes(self._recorded[:whole]), np.float32)

    def _record(self) -> None:
        """Record without end; this also keeps the sink from dozing, seconds at a time."""
        command = "parec --raw --device=ear.monitor --format=float32le --channels=1"
        command += f" --rate={self.sample_rate} --latency-msec=20"
        self._recorded = bytearray()
        self._recorder = subprocess.Popen(
            command.split(), env=self.environment, stdout=subprocess.PIPE, bufsize=0
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        wait_until(lambda: len(self._recorded) > 0, "the recorder runs")

    def _read(self) -> None:
        assert self._recorder.stdout is not None
        with self._recorder.stdout as pipe:
            while chunk := pipe.read(65_536):
                self._recorded += chunk

    def _ask(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["pactl", *words], env=self.environment, capture_output=True)


def perform(
    environment: dict[str, str], folder: Path, *steps: tuple[Any, ...]
) -> list[dict[str, Any]]:
    """Drive a real `Player` in a process of its own; gives what it said.

    Qt looks for the sound server once in the life of a process, so each performance has its own.

    Args:
        environment: of a sound server, or of none.
        folder: for the samples.
        steps: see `tests/app/performer.py`; an array is handed over as a file.
    """
    script = []
    for number, step in enumerate(steps):
        words = list(step)
        for place, word in enumerate(words):
            if isinstance(word, np.ndarray):
                words[place] = str(folder / f"{number}.npy")
                np.save(words[place], word)
        script.append(words)
    performer = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-m", "tests.app.performer"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with performer:
        _hurry(performer)
        try:
            events, errors = performer.communicate(json.dumps(script), timeout=2 * PATIENCE_S)
        finally:
            performer.kill()
    if performer.returncode or "Traceback" in errors:
        raise RuntimeError(f"the player ended with {performer.returncode}:\n{errors}")
    return [json.loads(line) for line in events.splitlines()]


def in_real_time(test: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Let a test listen up to three times, for a busy machine may starve the sound for a moment.

    What the player does wrong it does each time.
    """

    @functools.wraps(test)
    def listen(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        for _ in range(2):
            with contextlib.suppress(AssertionError):
                return test(*args, **kwargs)
        return test(*args, **kwargs)

    return listen


def _hurry(process: subprocess.Popen[Any]) -> None:
    """Put a process before others that are not real time, where that is allowed."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, process.pid, -15)


@contextmanager
def on_cue(cue: Path, act: Callable[[], None]) -> Iterator[None]:
    """Act once while a performance waits in its step `("cue", str(cue))`."""

    def wait_and_act() -> None:
        wait_until(cue.exists, "the cue is given")
        act()
        cue.unlink()

    actor = threading.Thread(target=wait_and_act)
    actor.start()
    yield
    actor.join()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.01)
