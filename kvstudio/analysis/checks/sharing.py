"""shared-state: two owners step one state, so that each finds what the other one left."""

from dataclasses import replace

from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    finding_of,
    frame_words,
    layers_words,
    slots_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.surprises import stepped_by_others
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame
from kvstudio.recording.schema import PARTS

FLOW_LM = PARTS.index("flow_lm")
POOLS = ("ThreadPoolExecutor", "asyncio_")
"""Names of threads that take turns at somebody's bidding, one step after another."""


class SharedStateCheck:
    """Steps that nobody here took, and threads that take turns on one state."""

    def __init__(self) -> None:
        self._moved = Sightings()
        self._chunk = -1
        self._threads: list[str] = []  # that took decode steps of it, in the order of their first
        self._last: str | None = None
        self._turns: Finding | None = None
        self._count = 0

    def look(self, view: FrameView) -> None:
        for model in ("flow_lm", "mimi"):
            for cache, slots in stepped_by_others(view, model):
                self._moved.add(cache, view.frame, slots)
        if view.frame.phase == "decode":
            self._take_turn(view)

    def findings(self, recording: Recording) -> list[Finding]:
        turns = [] if self._turns is None else [replace(self._turns, count=self._count)]
        return [*self._moved.findings(_moved), *turns]

    def _take_turn(self, view: FrameView) -> None:
        thread = view.recording.evidence.thread(view.frame.id, FLOW_LM)
        if view.chunk.id != self._chunk:  # a script may drive one chunk here and the next there
            self._chunk, self._threads, self._last = view.chunk.id, [], None
        if thread is None or thread.startswith(POOLS):
            return
        if thread != self._last and thread in self._threads:
            self._count += 1
            self._turns = self._turns or _taking_turns(view.frame, thread, str(self._last))
        elif thread not in self._threads:
            self._threads.append(thread)
        self._last = thread


def _moved(group: list[Sighting]) -> Finding:
    first = group[0]
    slots = slots_words(first.slots)
    message = (
        f"{layers_words([seen.cache for seen in group])}: before {frame_words(first.frame)} began, "
        f"somebody else moved the offset and wrote {slots}: another owner takes steps on the same "
        "state. Each speaks on after the other one's frames. Look for two generations at once, or "
        "a voice state used with copy_state=False."
    )
    link = Link(
        f"offset moved and {slots} written between two steps",
        frame=first.frame.id,
        cache=first.cache.id,
        slot=first.slots[0],
    )
    return finding_of("shared-state", group, message, chain=(link,))


def _taking_turns(frame: Frame, thread: str, other: str) -> Finding:
    message = (
        f"Threads {other} and {thread} take turns in stepping FlowLM, again in "
        f"{frame_words(frame)}: two generations run at once on a model that serves one. If they "
        "share a state, each finds the other one's frames in it. Wait for the first generation to "
        "end, or give each a model of its own."
    )
    link = Link(f"{thread} takes a step after {other} did", frame=frame.id)
    return Finding(
        kind="shared-state",
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        chain=(link,),
    )
