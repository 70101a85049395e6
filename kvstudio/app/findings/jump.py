"""Moves the cursor to what a finding or a link of its chain is about.

A recording may come from a stranger: ids are looked up before anything follows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvstudio.analysis.finding import Link
from kvstudio.recording.errors import RecordingError

if TYPE_CHECKING:
    from kvstudio.analysis.finding import Finding
    from kvstudio.app.workspace import Workspace
    from kvstudio.recording.reader import Recording


def origin(finding: Finding) -> Link:
    """Where a finding begins: the first link that leads somewhere, with the finding's own slot."""
    first = next((link for link in finding.chain if link.op is not None), Link(""))
    same = first.frame is None or finding.frame is None or first.frame == finding.frame
    slot = first.slot if finding.slots is None else finding.slots[0]
    return Link(
        finding.message,
        frame=finding.frame if finding.frame is not None else first.frame,
        op=first.op if same else None,
        cache=finding.cache if finding.cache is not None else first.cache,
        slot=slot,
        second=next((link.second for link in finding.chain if link.second is not None), None),
    )


def jump(workspace: Workspace, link: Link) -> bool:
    """Whether there was anything to move the cursor to."""
    recording = workspace.recording
    if recording is None:
        return False
    op, frame = _op_and_frame(recording, link)
    cache = link.cache if _is_index(link.cache, len(recording.caches)) else None
    slot = link.slot if cache is not None and link.slot is not None and link.slot >= 0 else None
    second = link.second if link.second is not None and link.second >= 0 else None
    if all(each is None for each in (op, frame, cache, second)):
        return False
    workspace.move(frame=frame, op=op, cache=cache, slot=slot, second=second)
    return True


def _op_and_frame(recording: Recording, link: Link) -> tuple[int | None, int | None]:
    frame = link.frame if _is_index(link.frame, len(recording.frames)) else None
    if link.op is None:
        return None, frame
    try:
        found = recording.ops.get(link.op)
    except (RecordingError, LookupError):
        return None, frame
    return (
        (link.op, found.frame) if _is_index(found.frame, len(recording.frames)) else (None, frame)
    )


def _is_index(number: int | None, count: int) -> bool:
    return number is not None and 0 <= number < count
