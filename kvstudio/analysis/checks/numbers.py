"""nan-produced and audio-nan: numbers that were computed and are none."""

from dataclasses import replace
from typing import Literal

import numpy as np

from kvstudio.analysis.finding import (
    Finding,
    Link,
    Sighting,
    Sightings,
    finding_of,
    frame_words,
    layers_words,
    op_link,
    slots_words,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.steps import Step
from kvstudio.recording.ops import part_word
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Op

NAN = 1


class NanCheck:
    """NaN in a slot that was written during the run, or that the voice state brought along."""

    def __init__(self) -> None:
        self._seen = Sightings()
        self._kv: dict[int, Literal["K", "V"] | None] = {}
        self._valued: bool | None = None  # whether values were recorded
        self._below: dict[int, int] = {}  # NaN slots below the offset, by cache

    def look(self, view: FrameView) -> None:
        if self._valued is None:
            self._valued = view.recording.spec.trace != "off"
        if not self._valued:
            return
        for step in view.steps:
            cache = step.cache
            below = step.nan_slots - max(0, step.capacity - step.offset)
            more, self._below[cache.id] = below - self._below.get(cache.id, 0), below
            if more > 0 and cache.id in self._kv:
                self._seen.add(cache, step.frame, (0, 0), more)
            elif more > 0:
                slots, kv = _nan_slots(view.recording, step)
                if slots:
                    self._kv[cache.id] = kv
                    self._seen.add(cache, step.frame, (slots[0], slots[-1] + 1), len(slots))

    def findings(self, recording: Recording) -> list[Finding]:
        return self._seen.findings(
            lambda group: _produced(recording, group, self._kv[group[0].cache.id])
        )


class AudioNanCheck:
    """Samples that are NaN, counted; the first one says where."""

    def __init__(self) -> None:
        self._found: Finding | None = None
        self._count = 0

    def look(self, view: FrameView) -> None:
        if view.samples is None:
            return
        nan = np.flatnonzero(np.isnan(view.samples))
        self._count += len(nan)
        if self._found is None and len(nan):
            self._found = _nan_audio(view, int(nan[0]))

    def findings(self, recording: Recording) -> list[Finding]:
        if self._found is None:
            return []
        message = f"{self._count:,} {self._found.message}"
        return [replace(self._found, message=message, count=self._count)]


def _nan_audio(view: FrameView, sample: int) -> Finding:
    """The finding, its message without the number of samples that begins it."""
    frame = view.frame
    second = (view.first_sample + sample) / view.recording.facts.sample_rate
    message = (
        f"samples of the audio are NaN, from second {second:.2f} "
        f"({frame_words(frame)}) on. In a 16-bit file they are silence. "
        "Look for the first NaN in the latents, then in the cache: it came from there, or from "
        "Mimi's own state."
    )
    link = Link(f"the audio is NaN from second {second:.2f} on", frame=frame.id, second=second)
    return Finding(
        kind="audio-nan",
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        chain=(link,),
    )


def _nan_slots(recording: Recording, step: Step) -> tuple[list[int], Literal["K", "V"] | None]:
    """Slots with NaN that this frame wrote or found, and whether only K or only V has them."""
    found = recording.slots(step.cache, step.frame.id)
    values = recording.values(step.cache, step.frame.id)
    nan = np.isnan(values)  # [2, B, T, H, D]
    # A slot of the voice state that is NaN throughout was never written: that is a hole.
    unwritten = ~found.written | ((found.frames < 0) & nan.all(axis=(0, 1, 3, 4)))
    wrong = nan.any(axis=(1, 3, 4)) & ~unwritten  # [2, T]
    wrong[:, step.offset :] = False
    k, v = bool(wrong[0].any()), bool(wrong[1].any())
    return np.flatnonzero(wrong.any(0)).tolist(), None if k == v else ("K" if k else "V")


def _produced(recording: Recording, group: list[Sighting], kv: Literal["K", "V"] | None) -> Finding:
    first = group[0]
    op = _origin(recording, first)
    layers = layers_words([seen.cache for seen in group])
    message = (
        f"{layers}: NaN was computed and written to {kv or 'K and V'}, first in "
        f"{frame_words(first.frame)}, {slots_words(first.slots)}. Later frames attend to it and "
        "become NaN too, the stop test never fires, and the audio ends in silence. "
        f"{'Look at' if op is None else f'{op.name} is'} the first op of that frame that takes no "
        "NaN and gives one."
    )
    slot, frame = first.slots[0], first.frame
    chain = [] if op is None else [op_link(op, "takes no NaN and gives one")]
    words = f"{frame_words(frame)}: NaN in {slots_words(first.slots)}, {layers[0].lower()}"
    chain.append(Link(words + layers[1:], frame=frame.id, cache=first.cache.id, slot=slot))
    return finding_of("nan-produced", group, message, chain=chain, kv=kv, op=op)


def _origin(recording: Recording, seen: Sighting) -> Op | None:
    """The first op of the model's own that took no NaN and gave one, if ops were recorded."""
    recording.ops.refresh()
    for number in recording.ops.of_frame(seen.frame.id):
        flags = int(recording.ops.flags[number])  # nan_in * 4 + nan_out
        if flags % 4 == NAN and flags // 4 != NAN:
            op = recording.ops.get(int(number))
            if part_word(op.part) == seen.cache.model:
                return op
    return None
