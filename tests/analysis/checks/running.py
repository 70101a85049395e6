"""Fake runs to be checked, as they are or changed by hand."""

from collections.abc import Callable
from pathlib import Path

from kvstudio.analysis.finding import Finding
from kvstudio.analysis.report import Report, check
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def report_of(path: Path, *statements: str) -> Report:
    """The report of a closed recording, after some SQL statements."""
    if statements:
        tamper(path, *statements)
    with Recording.open(path) as recording:
        return check(recording)


def findings_of(check_it: Callable[[Recording], list[Finding]], path: Path) -> list[Finding]:
    with Recording.open(path) as recording:
        return check_it(recording)


def cut_off(path: Path, frames: int, *, eos: bool) -> FakeRun:
    """A run that uses up its room of `frames`; `eos` in its last frame, which is decoded."""
    run = FakeRun(path, room=frames)
    run.begin_chunk()
    run.prefill()
    for step in range(frames):
        run.decode(eos=eos and step == frames - 1)
    run.writer.finish("finished", "reached the maximum length")
    return run
