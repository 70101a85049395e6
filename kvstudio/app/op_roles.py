"""What part each op plays in the life of a NaN, or why its NaN is normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvstudio.analysis.normal import normal_op
from kvstudio.analysis.roles import ROLE_WORDS, role_of

if TYPE_CHECKING:
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Op

LOUD = frozenset({"producer", "reader", "launderer"})
"""A carrier only passes on what another op began."""
NORMAL = "normal"


@dataclass(frozen=True)
class OpRole:
    """`word` is one of `analysis.roles.Role`, `normal`, or empty; `words` say what it means."""

    word: str = ""
    words: str = ""

    @property
    def is_loud(self) -> bool:
        return self.word in LOUD


class OpRoles:
    """Looks up once a frame which of its ops read what nobody had written."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._readers: dict[int, frozenset[int]] = {}

    def role(self, op: Op) -> OpRole:
        """Raises RecordingError: the recording is damaged there."""
        frames = self._recording.frames
        if not 0 <= op.frame < len(frames):
            return OpRole()
        unwritten = op.id in self._readers_of(op.frame)
        why = None if unwritten else normal_op(op, frames[op.frame])
        if why is not None:
            return OpRole(NORMAL, f"normal: {why}")
        role = role_of(op.name, op.nan_in, op.nan_out, unwritten=unwritten, results=op.results)
        return OpRole() if role is None else OpRole(role, ROLE_WORDS[role])

    def _readers_of(self, frame: int) -> frozenset[int]:
        if frame not in self._readers:
            misuses = self._recording.evidence.misuses(frame)
            self._readers[frame] = frozenset(
                each.op for each in misuses if each.kind == "unwritten-read"
            )
        return self._readers[frame]
