"""marker-missing and foreign-state: a decode step was fed another vector than it should be.

The first step of a chunk is fed the start marker, NaN, which FlowLM replaces by a learned vector;
every later one the latent that the step before has made.
"""

from dataclasses import replace

import numpy as np

from kvstudio.analysis.finding import Finding, Link, frame_words, sentence
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Frame

FED_WORDS = {
    "marker": "the learned start vector",
    "latent": "the latent of the frame before",
    "zero": "zeros",
    "nan": "NaN itself, which nothing replaced",
    "other": "some other vector",
}


class FeedingCheck:
    """The first step that was not fed the marker, and later ones not fed the last latent."""

    def __init__(self) -> None:
        self._unmarked: Finding | None = None
        self._foreign: Finding | None = None
        self._count = 0
        self._finite: dict[int, bool] = {}  # the latent of the frame before, by chunk

    def look(self, view: FrameView) -> None:
        if view.frame.phase != "decode":
            return
        fed, finite = view.fed, self._finite.get(view.chunk.id, False)
        latent = view.latent
        self._finite[view.chunk.id] = latent is not None and bool(np.isfinite(latent).all())
        if fed is None:
            return
        if view.frame.step == 0:
            if fed != "marker" and self._unmarked is None:
                self._unmarked = _unmarked(view.frame, fed)
        elif fed != "latent" and finite:  # what becomes of NaN is `nan-laundered`
            self._count += 1
            self._foreign = self._foreign or _another(view.frame, fed)

    def findings(self, recording: Recording) -> list[Finding]:
        found = [] if self._unmarked is None else [self._unmarked]
        if self._foreign is not None:
            found.append(replace(self._foreign, count=self._count))
        return found


def _unmarked(frame: Frame, fed: str) -> Finding:
    words = FED_WORDS.get(fed, fed)
    message = (
        f"{sentence(frame_words(frame))} should be fed the start marker, "
        f"which is NaN and is replaced by a learned vector inside FlowLM. It was fed {words} "
        "instead: the beginning is smeared or silent. NaN in the first input is no fault; look for "
        "code that takes it for one."
    )
    return _finding("marker-missing", frame, message, f"fed {words} instead of the start marker")


def _another(frame: Frame, fed: str) -> Finding:
    words = FED_WORDS.get(fed, fed)
    message = (
        f"{sentence(frame_words(frame))} should be fed the latent of the "
        f"frame before, but was fed {words}: the model goes on from something that it did not say. "
        "Look at what happens to a latent between two steps."
    )
    return _finding("foreign-state", frame, message, f"fed {words} instead of the last latent")


def _finding(kind: str, frame: Frame, message: str, text: str) -> Finding:
    return Finding(
        kind=kind,
        severity="error",
        message=message,
        frame=frame.id,
        phase=frame.phase,
        chain=(Link(text, frame=frame.id),),
    )
