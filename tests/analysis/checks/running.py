"""Fake runs to be checked, as they are or changed by hand."""

from pathlib import Path

from kvstudio.analysis.checker import Check, Checker, check
from kvstudio.analysis.finding import Finding
from kvstudio.analysis.report import Report
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def report_of(path: Path, *statements: str) -> Report:
    """The report of a closed recording, after some SQL statements."""
    if statements:
        tamper(path, *statements)
    with Recording.open(path) as recording:
        return check(recording)


def findings_of(kind: type[Check], path: Path) -> list[Finding]:
    """What one check alone finds."""
    with Recording.open(path) as recording:
        checker = Checker(recording, [kind])
        checker.advance()
        return checker.seen()


def texts(finding: Finding) -> list[str]:
    """The chain in words."""
    return [link.text for link in finding.chain]


def cut_off(path: Path, frames: int, *, eos: bool) -> FakeRun:
    """A run that uses up its room of `frames`; `eos` in its last frame, which is decoded.

    Its text is of one token, for which pocket-tts allows 30 frames.
    """
    run = FakeRun(path, room=frames, text=1)
    run.begin_chunk()
    run.prefill()
    for step in range(frames):
        run.decode(eos=eos and step == frames - 1)
    run.writer.finish("finished", "reached the maximum length")
    return run
