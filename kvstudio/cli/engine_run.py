"""Runs the engine to the end of one spec, in a process of its own, its progress on our stderr."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from kvstudio.recording.errors import SpecError, UnwritableRecording
from kvstudio.recording.interpreter import engine_command
from kvstudio.recording.spec import RunSpec

DONE, BAD_INPUT, RUN_FAILED = 0, 2, 3
STDERR = 2  # whatever the model prints must not get into the JSON on standard output


def run_engine(spec: RunSpec, out: Path, python: str | None) -> int:
    """DONE, BAD_INPUT or RUN_FAILED; the engine has said why on standard error.

    Raises:
        SpecError: nothing to run, or no such interpreter.
        UnwritableRecording: `out` exists.
    """
    spec.require_runnable()
    require_new(out)
    command = engine_command(python)
    try:
        with tempfile.TemporaryDirectory(prefix="kvstudio-") as folder:
            file = Path(folder) / "spec.json"
            file.write_text(spec.to_json(), encoding="utf-8")
            arguments = ["run", "--spec", str(file), "--out", os.path.abspath(out)]
            done = subprocess.run(
                [*command.argv, *arguments],
                env=command.environment,
                stdin=subprocess.DEVNULL,
                stdout=STDERR,
                check=False,
            )
    except OSError as error:
        raise SpecError(f"cannot start {command.argv[0]}: {error.strerror or error}") from error
    finally:
        command.cleanup()
    return _outcome(done.returncode, out, command.argv[0])


def require_new(path: Path) -> None:
    """Refuses to overwrite; said before a model is loaded for nothing."""
    if os.path.lexists(path):
        raise UnwritableRecording(path, "exists; choose another name")
    if not os.path.isdir(path.parent):
        raise UnwritableRecording(path, f"the folder {path.parent} does not exist")


def _outcome(code: int, out: Path, interpreter: str) -> int:
    if code in (DONE, BAD_INPUT, RUN_FAILED):
        return code
    if out.exists():
        why = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        sys.stderr.write(f"kvstudio: the engine died ({why}); {out} holds the frames until then\n")
        return RUN_FAILED
    sys.stderr.write(
        f"kvstudio: the engine could not start in {interpreter}: see above. It needs pocket-tts, "
        "numpy and soundfile there.\n"
    )
    return BAD_INPUT
