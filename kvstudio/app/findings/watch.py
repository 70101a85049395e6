"""What is wrong with the open recording, as far as it is known by now.

no recording                                    "none"
growing, the engine writes what it finds        "so far"
over, the engine found something                "findings"
over, or its writer is gone, nothing stored     "checking", then what the checks say:
                                                "clean", "findings", "not verified"
the checks could not read it                    "unreadable"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from kvstudio.analysis.finding import Finding
from kvstudio.app.findings.checking import RecordingCheck
from kvstudio.recording.errors import RecordingError
from kvstudio.recording.opening import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.analysis.report import Report
    from kvstudio.recording.evidence import FindingRow
    from kvstudio.recording.reader import Recording

Standing = Literal["none", "so far", "checking", "clean", "findings", "not verified", "unreadable"]


class FindingsWatch(QObject):
    """Follows the findings of one recording after the other.

    Attributes:
        findings: in the order of their frames.
        standing: how far the search is, or how it ended.
        reason: the verdict in words, once there is one.
        chosen: the one that the user looks at.

    Signals:
        changed: something of the above is different.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.findings: tuple[Finding, ...] = ()
        self.standing: Standing = "none"
        self.reason = ""
        self.chosen: Finding | None = None
        self._recording: Recording | None = None
        self._rows: Sequence[FindingRow] = ()
        self._check: RecordingCheck | None = None
        self._leaving: list[RecordingCheck] = []
        self._closed = False

    def follow(self, recording: Recording | None) -> None:
        """Another recording is open, or none."""
        self._leave_check()
        self._recording, self._rows = recording, ()
        self.findings, self.chosen, self.reason = (), None, ""
        self.standing = "none" if recording is None else "so far"
        self.changed.emit()
        self.refresh()

    def refresh(self) -> None:
        """Takes in what was found meanwhile; cheap, so it is asked often."""
        recording = self._recording
        if recording is None or self.standing not in ("none", "so far"):
            return
        try:
            self._take_rows(recording)
            status = recording.status
        except (RecordingError, ValueError) as error:
            self._end("unreadable", str(error))
            return
        if status == "recording":
            return
        if self.findings and status != "interrupted":
            self._end("findings", "")
        else:
            self._begin_check(recording)

    def choose(self, finding: Finding | None) -> None:
        if finding != self.chosen:
            self.chosen = finding
            self.changed.emit()

    def beside(self, step: int) -> Finding | None:
        """The one after (1) or before (-1) the chosen one, round the end; the first if none is."""
        if not self.findings:
            return None
        if self.chosen not in self.findings:
            return self.findings[0 if step > 0 else -1]
        return self.findings[(self.findings.index(self.chosen) + step) % len(self.findings)]

    def close(self) -> None:
        """Waits until no thread of ours runs any more, and begins no other."""
        self._closed = True
        self._leave_check()
        for check in self._leaving:
            check.wait()
        self._leaving.clear()

    # ---- private ------------------------------------------------------------------------------

    def _take_rows(self, recording: Recording) -> None:
        rows = recording.evidence.findings()
        if rows == self._rows:
            return
        with reading(recording.path):
            findings = tuple(Finding.from_row(row) for row in rows)
        self._rows = rows
        self._show(findings)

    def _show(self, findings: tuple[Finding, ...]) -> None:
        self.findings = tuple(sorted(findings, key=lambda each: each.frame or 0))
        if self.chosen is not None:
            kept = _identity(self.chosen)
            again = [each for each in self.findings if _identity(each) == kept]
            self.chosen = again[0] if again else None
        if self.chosen is None and self.findings:
            self.chosen = self.findings[0]
        self.changed.emit()

    def _end(self, standing: Standing, reason: str) -> None:
        self.standing, self.reason = standing, reason
        self.changed.emit()

    # ---- the thread ---------------------------------------------------------------------------

    def _begin_check(self, recording: Recording) -> None:
        self.standing = "checking"
        if self._closed:
            return
        self._check = check = RecordingCheck(recording.path)
        check.ended.connect(self._on_check_ended)
        check.start()
        self.changed.emit()

    def _leave_check(self) -> None:
        """Its thread may still be at work; what it speaks through must last as long."""
        if self._check is not None:
            self._check.leave()
            self._leaving = [*(each for each in self._leaving if each.running), self._check]
            self._check = None

    def _on_check_ended(self, check: RecordingCheck, outcome: Report | str) -> None:
        if check is not self._check:
            return  # of a recording that is open no more
        self._leave_check()
        if isinstance(outcome, str):
            self._end("unreadable", outcome)
        else:
            self.standing, self.reason = outcome.verdict, outcome.reason
            self._show(outcome.findings)


def _identity(finding: Finding) -> tuple[object, ...]:
    """What stays of a finding while its count grows and its chain gets longer."""
    return finding.kind, finding.frame, finding.cache, finding.slots
