"""Runs a spec in an observer with edits of the test's own making."""

import copy
from collections.abc import Callable
from pathlib import Path

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults.moment import Moment
from kvstudio.engine.gate import Gate
from kvstudio.engine.observer import Observer
from kvstudio.engine.session import Session
from kvstudio.engine.state import ModelState
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import RunSpec

Edit = Callable[[Moment], None]


class At:
    """Does one thing before some frames, and keeps every moment that it is told of."""

    def __init__(self, frame: int, edit: Edit, *others: int) -> None:
        self.frames, self.edit = (frame, *others), edit
        self.moments: list[Moment] = []

    def before(self, moment: Moment) -> None:
        self.moments.append(moment)
        if moment.frame in self.frames:
            self.edit(moment)


def nothing(moment: Moment) -> None:
    """An edit that edits nothing."""


def run_edited(
    session: Session,
    spec: RunSpec,
    path: Path,
    edits: At | None = None,
    voice: ModelState | None = None,
) -> Recording:
    """Runs `spec` from a copy of the voice; what the model raises is raised here."""
    assert session.voice is not None
    assert session._settings is not None
    state = copy.deepcopy(session.voice.state if voice is None else voice)
    gate = Gate()
    gate.run()
    writer = session.open_recording(spec, path)
    session._settings.apply(session.tts, spec)
    observer = Observer(session.tts, writer, gate, spec.trace, edits=edits)
    try:
        with observer.observing():
            torch.manual_seed(spec.seed)
            arguments = pocket.stream_arguments(session.tts, spec, gate.end)
            for _ in observer.tts.generate_audio_stream(state, spec.text, **arguments):
                pass
    finally:
        observer.finish()
        session._settings.restore(session.tts)
        writer.finish("finished")
    return Recording.open(path)
