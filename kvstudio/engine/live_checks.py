"""Runs the checks on a recording while the engine writes it, between one frame and the next."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from kvstudio.analysis.checker import Checker
from kvstudio.analysis.finding import Finding
from kvstudio.recording.reader import Recording
from kvstudio.recording.writer import RecordingWriter

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class News:
    """What the checks saw for the first time.

    Attributes:
        findings: those with a cause of their own, as they are in the recording.
        seen: all of it, consequences too.
    """

    findings: tuple[Finding, ...] = ()
    seen: tuple[Finding, ...] = ()


class LiveChecks:
    """Keeps the findings in a growing recording up to date.

    A check that fails is logged and ends the checking; it never ends the run. Frames may come from
    several threads.

    Args:
        checking: whether to check at all.
        on_frame: told of each frame, when its findings are in the recording too.
        on_news: told after that, if there is something new.
    """

    def __init__(
        self,
        writer: RecordingWriter,
        *,
        checking: bool = True,
        on_frame: Callable[[int], None] | None = None,
        on_news: Callable[[News], None] | None = None,
    ) -> None:
        self._writer, self._looking = writer, threading.RLock()
        self._on_frame, self._on_news = on_frame, on_news
        self._known: set[tuple[object, ...]] = set()
        self._stored: tuple[Finding, ...] = ()
        self._recording: Recording | None = None
        self._checker: Checker | None = None
        if checking:
            with self._guarded():
                self._recording = Recording.open(writer.path)
                self._checker = Checker(self._recording)

    def frame_added(self, frame: int) -> None:
        """Looks at a frame that was written, and tells of it; call before the next one begins."""
        news = News()
        with self._guarded():
            news = self._look()
        if self._on_frame is not None:
            self._on_frame(frame)
        self._tell(news)

    def finish(self, status: str) -> None:
        """Looks for the last time, now that it is known how the run ended; lets go of the file."""
        news = News()
        with self._guarded():
            news = self._look(status)
        with self._looking:
            self._close()
        self._tell(news)

    # ---- private ------------------------------------------------------------------------------

    def _look(self, status: str | None = None) -> News:
        if self._recording is None or self._checker is None:
            return News()
        self._checker.advance()
        with _ended(self._recording, status):
            findings = self._checker.findings()
            seen = self._checker.seen()
        if findings != self._stored:
            self._writer.set_findings([finding.to_row() for finding in findings])
            self._stored = findings
        news = News(self._unknown(findings), self._unknown(seen))
        self._known.update(map(_identity, (*news.findings, *news.seen)))
        return news

    def _unknown(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(each for each in findings if _identity(each) not in self._known)

    def _tell(self, news: News) -> None:
        if self._on_news is not None and (news.findings or news.seen):
            self._on_news(news)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        with self._looking:
            try:
                yield
            except Exception:
                LOG.exception("the checks failed and are over; the run goes on")
                self._close()

    def _close(self) -> None:
        if self._recording is not None:
            self._recording.close()
        self._recording = self._checker = None


@contextmanager
def _ended(recording: Recording, status: str | None) -> Iterator[None]:
    """While entered, the recording says that it ended so, as its file soon will."""
    facts = recording.facts
    if status is not None:
        recording.facts = replace(facts, status=status)
    try:
        yield
    finally:
        recording.facts = facts


def _identity(finding: Finding) -> tuple[object, ...]:
    """What stays the same while a finding is counted on and its chain grows."""
    return (finding.kind, finding.frame, finding.layer, finding.slots)
