"""Runs one spec without a window: load, voice, run to the end, with progress in words."""

import sys
from pathlib import Path

from kvstudio.engine.failures import explain
from kvstudio.engine.gate import Gate
from kvstudio.engine.progress import Cancelled, ProgressReporter
from kvstudio.engine.session import Session
from kvstudio.recording.errors import SpecError
from kvstudio.recording.protocol import Progress
from kvstudio.recording.spec import RunSpec

DONE, BAD_INPUT, RUN_FAILED = 0, 2, 3


def run_spec(spec_file: Path, out: Path) -> int:
    """0 when the run came to its end, 2 for bad input, 3 if the run itself failed."""
    session = Session(ProgressReporter(_show_progress))
    try:
        spec = RunSpec.from_json(_read(spec_file))
        spec.require_runnable()
        session.load(spec.model)
        session.make_voice(spec.voice)
        writer = session.open_recording(spec, out)
    except (Exception, Cancelled) as error:  # noqa: BLE001 -- told in words, as an exit code
        message, _ = explain(error, "preparing the run")
        _say(message)
        return BAD_INPUT
    gate = Gate()
    gate.run()
    outcome = session.run(spec, writer, gate, lambda frame: _say(f"frame {frame}"))
    _say(outcome.reason)
    return RUN_FAILED if outcome.status == "failed" else DONE


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot read the run spec {file}: {error}") from error


def _show_progress(progress: Progress) -> None:
    if progress.unit == "bytes" and progress.total:
        share = 100 * progress.done / progress.total
        _say(
            f"{progress.what}: {progress.done:,.0f} of {progress.total:,.0f} bytes ({share:.0f} %)"
        )
    else:
        _say(progress.what)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
