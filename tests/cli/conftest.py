"""The command line with a stand-in for an engine that writes a fake run, or with the real one."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import kvstudio.cli.engine_run
from kvstudio.cli import main
from kvstudio.recording.interpreter import EngineCommand

ROOT = Path(__file__).parents[2]
# What it was asked to run is printed, as a chatty model prints; the text decides how it ends.
STAND_IN = """
import os, pathlib, signal, sys
from kvstudio.recording.spec import RunSpec
from tests.fakes import FakeRun
run, spec_option, spec_file, out_option, out = sys.argv[1:]
assert (run, spec_option, out_option) == ("run", "--spec", "--out")
spec = RunSpec.from_json(pathlib.Path(spec_file).read_text())
print("chatter", flush=True)
if spec.text == "unable":
    sys.exit("ModuleNotFoundError: torch")
if spec.text == "refused":
    sys.stderr.write("the voice is bad\\n"), sys.exit(2)
fake = FakeRun(pathlib.Path(out), spec=spec, room=4)
fake.begin_chunk(), fake.prefill()
if spec.text == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
for step in range(4):
    fake.decode(eos=step == 3)
if spec.text != "endless":
    fake.writer._connection.execute("DELETE FROM audio WHERE frame = 5")
fake.writer.finish("failed" if spec.text == "failed" else "finished")
sys.exit(3 if spec.text == "failed" else 0)
"""


class Told(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Kvstudio = Callable[..., Told]


@pytest.fixture
def kvstudio_command(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Kvstudio:
    """`kvstudio_command("check", path)`: exit code and what was said, with the real engine."""

    def run(*arguments: str | Path) -> Told:
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([str(each) for each in arguments])
        code = exit_.value.code
        return Told(code if isinstance(code, int) else -1, *capfd.readouterr())

    return run


@pytest.fixture
def command(kvstudio_command: Kvstudio, monkeypatch: pytest.MonkeyPatch) -> Kvstudio:
    """The same with the stand-in for an engine."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", STAND_IN]
    monkeypatch.setattr(
        kvstudio.cli.engine_run,
        "engine_command",
        lambda python: EngineCommand(argv, environment, lambda: None),
    )
    return kvstudio_command
