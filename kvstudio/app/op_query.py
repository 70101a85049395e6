"""Which ops are listed: those of a frame, of the run or on a slot, as far as they match a filter.

query = OpQuery(recording, "all", cursor, "copy_ -mimi")
ids = query.more()          # at once, as far as the ops are taken in
while query.waiting:        # a tick later each, so that the window never stands still
    ids = query.more()
"""

from typing import Literal

import numpy as np

from kvstudio.app.workspace import Cursor
from kvstudio.recording.ops import Ids
from kvstudio.recording.reader import Recording

OpScope = Literal["frame", "all", "slot"]
OPS_AT_ONCE = 8_000
"""Rows taken in at once while a filter waits for them: about 20 ms."""
NOTHING: Ids = np.zeros(0, np.int64)


class OpQuery:
    """A list of ops that grows, always at its end.

    Attributes:
        total: ops in the scope so far, whether they match or not.
    """

    def __init__(self, recording: Recording, scope: OpScope, cursor: Cursor, text: str) -> None:
        self.total = 0
        self._recording, self._scope, self._cursor, self._text = recording, scope, cursor, text
        self._last = -1
        self._waiting = NOTHING

    @property
    def waiting(self) -> bool:
        """Whether `more` has more to give already."""
        return bool(len(self._waiting))

    def more(self) -> Ids:
        """The ids to add to the list, ascending, all higher than those given before."""
        new = self._new()
        if len(new):
            self._last = int(new[-1])
            self.total += len(new)
            self._waiting = np.concatenate([self._waiting, new])
        ready, self._waiting = self._ready(), self._waiting[self._count_ready() :]
        return self._matching(ready) if self._text and len(ready) else ready

    # ---- private ------------------------------------------------------------------------------

    def _new(self) -> Ids:
        """What came into the scope since the last time."""
        ops, cursor = self._recording.ops, self._cursor
        if self._scope == "all":
            return np.arange(self._last + 1, ops.count(), dtype=np.int64)
        if self._scope == "frame":
            is_first = self._last < 0 and cursor.frame is not None
            return ops.of_frame(cursor.frame or 0) if is_first else NOTHING
        if cursor.cache is None or cursor.slot is None:
            return NOTHING
        newest = len(self._recording.frames) - 1
        touched = ops.touching(cursor.cache, cursor.slot, newest, after=self._last)
        return np.unique(np.array([op for op, _ in touched], np.int64))

    def _ready(self) -> Ids:
        """What need not wait; takes in some ops if a filter has to see them first."""
        ops = self._recording.ops
        if self._text and len(self._waiting) and self._waiting[-1] >= len(ops):
            ops.refresh(OPS_AT_ONCE)
        return self._waiting[: self._count_ready()]

    def _count_ready(self) -> int:
        if not self._text:
            return len(self._waiting)
        return int(np.searchsorted(self._waiting, len(self._recording.ops)))

    def _matching(self, ids: Ids) -> Ids:
        first, last = int(ids[0]), int(ids[-1])
        is_run = last - first + 1 == len(ids)
        found = self._recording.ops.matching(self._text, None if is_run else ids, after=first)
        return found[: int(np.searchsorted(found, last, "right"))]
