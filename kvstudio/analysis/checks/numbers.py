"""nan-produced and audio-nan: numbers that were computed and are none; and halves left NaN."""

from dataclasses import replace
from functools import partial

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
    sentence,
    slots_words,
    within,
)
from kvstudio.analysis.frame_view import FrameView
from kvstudio.analysis.nan_slots import HALVES, Half, NanWatch, nan_slots
from kvstudio.analysis.producers import first_producer, layer_of_op
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame, Op

MODELS = ("flow_lm", "mimi")


class NanCheck:
    """NaN in a slot that was written during the run, or that the voice state brought along.

    Either it was computed, or only K or only V of the slot was written and the other is a hole.
    """

    def __init__(self) -> None:
        self._seen = Sightings()
        self._left_out = {half: Sightings() for half in HALVES}
        self._kv: dict[int, Half | None] = {}
        self._watch = NanWatch()
        self._valued: bool | None = None  # whether values were recorded

    def look(self, view: FrameView) -> None:
        if self._valued is None:
            self._valued = view.recording.spec.trace != "off"
        if not self._valued:
            return
        for step in view.steps:
            if self._watch.may_have_come(step):
                found = nan_slots(view, step)
                if slots := found.slots:
                    self._kv.setdefault(step.cache.id, found.kv)
                    self._seen.add(step.cache, step.frame, (slots[0], slots[-1] + 1), len(slots))
                for half, slots in found.unwritten.items():
                    if slots:
                        where = (slots[0], slots[-1] + 1)
                        self._left_out[half].add(step.cache, step.frame, where, len(slots))

    def findings(self, recording: Recording) -> list[Finding]:
        computed = self._seen.findings(
            lambda group: _produced(recording, group, self._kv[group[0].cache.id])
        )
        holes = [
            found
            for half, seen in self._left_out.items()
            for found in seen.findings(partial(_half_written, half))
        ]
        return [*holes, *computed]


class LatentNanCheck:
    """The first latent that is NaN: FlowLM takes it for a start marker, the codec is poisoned."""

    def __init__(self) -> None:
        self._first: Frame | None = None
        self._count = 0

    def look(self, view: FrameView) -> None:
        if view.latent is not None and bool(np.isnan(view.latent).any()):
            self._first = self._first or view.frame
            self._count += 1

    def findings(self, recording: Recording) -> list[Finding]:
        frame = self._first
        if frame is None:
            return []
        op = first_producer(recording, frame, "flow_lm")
        words = f"the latent of {frame_words(frame)} is NaN"
        message = (
            f"{sentence(words)}. FlowLM takes it for a start marker in the next step "
            "and goes on with other words, and Mimi cannot get rid of it: the audio is NaN to the "
            f"end of the chunk. {_look_at(op)}"
        )
        chain = [] if op is None else [op_link(op, "takes no NaN and gives one")]
        return [
            Finding(
                kind="nan-produced",
                severity="error",
                message=message,
                frame=frame.id,
                phase=frame.phase,
                op=None if op is None else op.name,
                site=None if op is None else f"{op.site[0]}:{op.site[1]}",
                chain=(
                    *chain,
                    Link(f"the latent is NaN from {frame_words(frame)} on", frame=frame.id),
                ),
                count=self._count,
            )
        ]


class UnfinishedNanCheck:
    """NaN in a step that raised, so that it never came to a cache or a latent.

    An int8 linear refuses NaN, which is better than what it does with it elsewhere.
    """

    def __init__(self) -> None:
        self._frame: Frame | None = None

    def look(self, view: FrameView) -> None:
        if view.frame.problem is not None:
            self._frame = self._frame or view.frame

    def findings(self, recording: Recording) -> list[Finding]:
        frame = self._frame
        ops = [] if frame is None else [first_producer(recording, frame, m) for m in MODELS]
        op = next((each for each in ops if each is not None), None)
        if frame is None or op is None:
            return []
        message = (
            f"{op.name} at {op.site[0]}:{op.site[1]} took no NaN and gave one in "
            f"{frame_words(frame)}, and then the model raised: {frame.problem}. Nothing is "
            "generated from here on. Look at what that op was given: did it overflow?"
        )
        return [
            Finding(
                kind="nan-produced",
                severity="error",
                message=message,
                frame=frame.id,
                phase=frame.phase,
                layer=layer_of_op(op),
                op=op.name,
                site=f"{op.site[0]}:{op.site[1]}",
                chain=(op_link(op, "takes no NaN and gives one"),),
            )
        ]


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


def _produced(recording: Recording, group: list[Sighting], kv: Half | None) -> Finding:
    first = group[0]
    op = first_producer(recording, first.frame, first.cache.model)
    layers = layers_words([seen.cache for seen in group])
    message = (
        f"{layers}: NaN was computed and written to {kv or 'K and V'}, first in "
        f"{frame_words(first.frame)}, {slots_words(first.slots)}. Later frames attend to it and "
        "become NaN too, the stop test never fires, and the audio ends in silence. "
        f"{_look_at(op)}"
    )
    slot, frame = first.slots[0], first.frame
    chain = [] if op is None else [op_link(op, "takes no NaN and gives one")]
    words = f"{frame_words(frame)}: NaN in {slots_words(first.slots)}, {within(layers)}"
    chain.append(Link(words, frame=frame.id, cache=first.cache.id, slot=slot))
    return finding_of("nan-produced", group, message, chain=chain, kv=kv, op=op)


def _half_written(half: Half, group: list[Sighting]) -> Finding:
    first, other = group[0], HALVES[1 - HALVES.index(half)]
    layers = layers_words([seen.cache for seen in group])
    message = (
        f"{layers}: {frame_words(first.frame)} wrote {other} "
        f"of {slots_words(first.slots)}, but not {half}, which is NaN as it was. Attention reads "
        "it: NaN spreads to every later frame. "
        f"Look at where the frame's {half} was written, in the cache map and the ops."
    )
    where = f"{half} of {slots_words(first.slots)} of {within(layers)}"
    words = f"{frame_words(first.frame)} should have written {where}"
    link = Link(words, frame=first.frame.id, cache=first.cache.id, slot=first.slots[0])
    return finding_of("hole", group, message, chain=[link], kv=half)


def _look_at(op: Op | None) -> str:
    begins = "Look at" if op is None else f"{op.name} is"
    return f"{begins} the first op of that frame that takes no NaN and gives one."
