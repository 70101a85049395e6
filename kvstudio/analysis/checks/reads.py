"""unwritten-read and stale-read: slots that an op read and that hold nothing of this passage."""

from dataclasses import replace

from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    finding_of,
    frame_words,
    layers_words,
    op_link,
    slots_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.misused import (
    Misused,
    first_run,
    is_harmful,
    kv_of,
    misused,
    passed_by,
    use_words,
    what_words,
)
from kvstudio.recording.evidence import Misuse, MisuseKind
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache

PAST_THE_OFFSET = "Look at where the keys are cut off: they should end at the offset."
NOT_WRITTEN = "Look at where its K and V went, in the cache map and the ops of that frame."


class _Reads:
    """Reads of one kind: those that can be heard, and those that a mask makes harmless."""

    kind: MisuseKind

    def __init__(self) -> None:
        self._harmful, self._harmless = Misused(), Misused()
        self._origins: dict[int, tuple[str, str]] = {}  # by cache: whose slot, what to look at

    def look(self, view: FrameView) -> None:
        for cache, rows in misused(view, self.kind):
            harmful = [row for row in rows if is_harmful(row)]
            seen = self._harmful if harmful else self._harmless
            if cache not in seen:
                self._origins[cache.id] = self.origin(view, cache, harmful or rows)
            seen.add(cache, view.frame, harmful or rows)

    def findings(self, recording: Recording) -> list[Finding]:
        def build(group: list[Sighting], rows: list[Misuse]) -> Finding:
            return self._finding(recording, group, rows)

        caches = recording.caches
        warnings = [
            replace(each, severity="warning")
            for each in self._harmless.findings(build)
            # What is harmless at first and heard later is one thing.
            if each.cache is None or caches[each.cache] not in self._harmful
        ]
        return self._harmful.findings(build) + warnings

    def origin(self, view: FrameView, cache: Cache, rows: list[Misuse]) -> tuple[str, str]:
        """Why the slots hold what they hold, and what to look at next."""
        raise NotImplementedError

    def _finding(self, recording: Recording, group: list[Sighting], rows: list[Misuse]) -> Finding:
        first = group[0]
        op = recording.ops.get(rows[0].op)
        why, next_step = self._origins[first.cache.id]
        slots = slots_words(first.slots)
        layers = layers_words([seen.cache for seen in group])
        message = (
            f"{layers}: {frame_words(first.frame)} read {slots} of "
            f"{what_words(first.cache, rows)}: {why}. {use_words(op, rows)} "
            f"{next_step}"
        )
        chain = (
            Link(
                f"{slots} of {layers[0].lower()}{layers[1:]}: {why}",
                frame=first.frame.id,
                cache=first.cache.id,
                slot=first.slots[0],
            ),
            op_link(op, f"reads {slots}"),
        )
        return finding_of(self.kind, group, message, chain=chain, kv=kv_of(rows), op=op)


class UnwrittenReadCheck(_Reads):
    """Slots that nobody has written."""

    kind = "unwritten-read"

    def origin(self, view: FrameView, cache: Cache, rows: list[Misuse]) -> tuple[str, str]:
        slot = first_run(rows)[0]
        step = next((each for each in view.steps if each.cache.id == cache.id), None)
        state = view.states.get(cache.id)
        if step is None or state is None:
            return "nobody has written there", PAST_THE_OFFSET
        found = step.before if state.found is None else state.found
        end = found + step.should_write
        if slot >= end:
            return f"nobody has written there yet, past the offset {end}", PAST_THE_OFFSET
        if slot >= found:
            return "nobody has written there, though this very frame should have", NOT_WRITTEN
        passed = passed_by(view.recording, cache, slot, view.frame)
        if passed is None or passed.phase == "voice":
            return "nobody has written there, though it belongs to the voice", NOT_WRITTEN
        return f"nobody has written there, {frame_words(passed)} should have", NOT_WRITTEN


class StaleReadCheck(_Reads):
    """Slots that hold what an earlier passage left there."""

    kind = "stale-read"

    def origin(self, view: FrameView, cache: Cache, rows: list[Misuse]) -> tuple[str, str]:
        writer = next((row.writer for row in rows if row.writer is not None), None)
        if writer is None or not 0 <= writer < len(view.recording.frames):
            return "there lies what was left from before the run", PAST_THE_OFFSET
        frame = view.recording.frames[writer]
        return f"there still lies what {frame_words(frame)} wrote", PAST_THE_OFFSET
