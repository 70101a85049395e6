"""Follows what a fault did on its way to the ear: first NaN latent, stop logit, second of audio."""

import numpy as np

from kvstudio.analysis.finding import Finding, Link, frame_words
from kvstudio.analysis.frame_view import FrameView
from kvstudio.recording.rows import Frame


class Trail:
    """What every chain has in common after its origin, kept up to date frame by frame."""

    def __init__(self) -> None:
        self._latents: list[Frame] = []  # frames that gave one
        self._heard: list[tuple[Frame, float]] = []  # frames with audio, and their first second
        self._nan_latents: list[Frame] = []
        self._nan_logits: list[Frame] = []

    def look(self, view: FrameView) -> None:
        frame = view.frame
        if view.samples is not None and view.recording.facts.sample_rate > 0:
            self._heard.append((frame, view.first_sample / view.recording.facts.sample_rate))
        if frame.stop_logit is not None and np.isnan(frame.stop_logit):
            self._nan_logits.append(frame)
        if view.latent is not None:
            self._latents.append(frame)
            if np.isnan(view.latent).any():
                self._nan_latents.append(frame)

    def latent(self, finding: Finding) -> list[Link]:
        """From the first latent that a fault of FlowLM reached to the stop test."""
        first = _first(self._latents, finding)
        nan = _first(self._nan_latents, finding)
        logit = _first(self._nan_logits, finding)
        links = []
        if nan is not None:
            links.append(Link(f"the latent is NaN from {frame_words(nan)} on", frame=nan.id))
        elif first is not None:
            words = f"the latent of {frame_words(first)} is the first that was computed from it"
            links.append(Link(words, frame=first.id))
        if logit is not None:
            words = (
                f"the stop logit is NaN from {frame_words(logit)} on, and NaN never exceeds the "
                "threshold"
            )
            links.append(Link(words, frame=logit.id))
        return links

    def audio(self, finding: Finding) -> list[Link]:
        """Where it can first be heard."""
        for frame, second in self._heard:
            if frame.id >= _reached(finding):
                words = f"it can be heard from second {second:.2f} on"
                return [Link(words, frame=frame.id, second=second)]
        return []


def _first(frames: list[Frame], finding: Finding) -> Frame | None:
    return next((frame for frame in frames if frame.id >= _reached(finding)), None)


def _reached(finding: Finding) -> int:
    """The first frame that what was found can have changed."""
    return 0 if finding.frame is None else finding.frame
