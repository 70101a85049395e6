"""What tests of playback share: something to play, and ways to look at what was heard."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE = 24_000
FRAME = 1_920
"""Samples of one frame, 80 ms."""

Samples = NDArray[np.float32]
Event = dict[str, Any]
Hear = Callable[..., tuple[Samples, list[Event]]]
"""The fixture `hear`: steps of a performance in, what was heard and what the player said out."""


def speech(frames: int, seed: int = 0) -> Samples:
    """Noise that is nowhere silent, so that silence in a recording is a gap."""
    rng = np.random.default_rng(seed)
    loudness = rng.uniform(0.05, 0.8, frames * FRAME).astype(np.float32)
    return np.where(rng.random(len(loudness)) < 0.5, -loudness, loudness)


def find(wanted: Samples, heard: Samples) -> tuple[int, float]:
    """Where `wanted` is in `heard`, and the correlation of the two there."""
    size = len(wanted) + len(heard)
    product = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(wanted, size))
    start = int(np.fft.irfft(product, size)[: len(heard) - len(wanted) + 1].argmax())
    return start, float(np.corrcoef(wanted, heard[start : start + len(wanted)])[0, 1])


def sounding(heard: Samples) -> Samples:
    """What is not silence."""
    return np.extract(np.abs(heard) > 1e-4, heard)


def longest_gap(heard: Samples) -> int:
    """Samples of the longest silence between the first and the last sound."""
    return int(np.diff(np.flatnonzero(np.abs(heard) > 1e-4)).max()) - 1


def said(events: list[Event], name: str) -> list[Event]:
    return [event for event in events if event["said"] == name]


def names(events: list[Event]) -> list[str]:
    return [event["said"] for event in events if event["said"] != "position_moved"]
