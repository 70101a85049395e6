"""Sound in words: positions, ranges, single points, and what is wrong with some samples."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.codes import Code
from kvstudio.app.sound.envelope import Trouble
from kvstudio.app.sound.marks import mark_words
from kvstudio.app.spectrogram import LOUDEST_SHOWN_DB, QUIETEST_SHOWN_DB, hop_samples
from kvstudio.app.words import counted

if TYPE_CHECKING:
    from PySide6.QtCore import QPointF

    from kvstudio.app.sound.scene import SoundScene
    from kvstudio.app.sound.track import SoundTrack
    from kvstudio.recording.rows import Frame

EMPTY = "No audio yet: step past the prefill to hear the first frame."
NO_SAMPLES = "This frame has no samples of its own to play."
SILENT_END = "This run ended before the first frame of audio."
MINUS = "\N{MINUS SIGN}"


def position_words(track: SoundTrack, sample: int) -> str:
    """Such as `1.28 s, frame 18`."""
    frame = track.frame_at(min(sample, len(track) - 1))
    seconds = f"{sample / track.sample_rate:.2f} s"
    return seconds if frame is None else f"{seconds}, frame {frame}"


def frame_words(track: SoundTrack, frame: Frame) -> tuple[str, ...]:
    """Such as `frame 18: 1.28 s to 1.36 s of 2.48 s`, and shorter."""
    samples = track.range_of(frame.id)
    if samples is None:
        return (f"frame {frame.id}, {frame.title}: no samples of its own", f"frame {frame.id}")
    first, last = (sample / track.sample_rate for sample in samples)
    full = f"frame {frame.id}: {first:.2f} s to {last:.2f} s of {track.seconds:.2f} s"
    return (full, f"{first:.2f} s, frame {frame.id}", f"frame {frame.id}")


def selection_words(track: SoundTrack, first: int, last: int) -> tuple[str, ...]:
    """Such as `0.40 s to 0.96 s (0.56 s, frames 7 to 13) selected`, and shorter."""
    begin, end = first / track.sample_rate, last / track.sample_rate
    frames = [track.frame_at(first), track.frame_at(last - 1)]
    named = f"frame {frames[0]}" if frames[0] == frames[1] else f"frames {frames[0]} to {frames[1]}"
    digits = 2 if end - begin >= 0.1 else 4
    span = f"{begin:.{digits}f} s to {end:.{digits}f} s"
    full = f"{span} ({end - begin:.{digits}f} s, {named}) selected"
    return (full, f"{span} selected", span)


def trouble_words(track: SoundTrack) -> tuple[str, ...]:
    """Such as `1,920 samples are NaN, 3 clipped`, and shorter; nothing if all is well."""
    nan, clipped = track.envelope.nan_count, track.envelope.clipped_count
    short = [f"{nan:,} NaN"] if nan else []
    full = [f"{counted(nan, 'sample')} {'is' if nan == 1 else 'are'} NaN"] if nan else []
    if clipped:
        full.append(f"{clipped:,} clipped" if nan else f"{counted(clipped, 'sample')} clipped")
        short.append(f"{clipped:,} clipped")
    return (", ".join(full), ", ".join(short)) if full else ()


def no_sound_words(why: str) -> str:
    """Such as `No sound: no device was found...`, from a sentence that stands by itself."""
    first, rest = why.split(" ", 1) if " " in why else (why, "")
    lowered = first.lower() if first in ("No", "The", "There") else first
    return f"No sound: {lowered} {rest}".rstrip()


def point_words(scene: SoundScene, point: QPointF) -> str:
    """What lies under a point of the picture; empty outside of the samples."""
    sample = int(scene.sample_at(point.x()))
    if not 0 <= sample < len(scene.track) or not scene.layout.wave.left() <= point.x():
        return ""
    frame = scene.track.frame_at(sample)
    where = f"{sample / scene.track.sample_rate:.4f} s (sample {sample:,}), frame {frame}"
    if marked := mark_words(scene, point.x()):
        where = f"{where}\n{marked}"
    if scene.layout.levels.contains(point):
        return f"{where}\n{_level_words(scene, point)}"
    return f"{where}\n{_sample_words(scene, point)}"


def _sample_words(scene: SoundScene, point: QPointF) -> str:
    """The sample, or the extremes of those behind one pixel."""
    edges = np.array([point.x() - 0.5, point.x() + 0.5])
    edges = np.array([scene.sample_at(x) for x in edges])
    if edges[1] - edges[0] < 1:
        edges = np.floor(scene.sample_at(point.x())) + np.array([0.0, 1.0])
    seen = scene.track.envelope.columns(edges)
    low, high, trouble = float(seen.low[0]), float(seen.high[0]), int(seen.trouble[0])
    also = " (clipped)" if trouble & Trouble.CLIPPED else ""
    if np.isnan(low):
        return "NaN"
    if trouble & Trouble.NAN:
        also += ", and NaN"
    if low == high:
        return f"level {_signed(low)}{_decibels(low)}{also}"
    return f"levels {_signed(low)} to {_signed(high)}{also}"


def _level_words(scene: SoundScene, point: QPointF) -> str:
    rect, levels = scene.layout.levels, scene.levels
    rate = scene.track.sample_rate
    column = round(scene.axis.second_at(point.x()) * rate / hop_samples(rate))
    if levels is None or not 0 <= column < len(levels):
        return "not computed yet"
    share = (rect.bottom() - point.y()) / rect.height()
    code = int(levels.codes[column, round(share * (levels.codes.shape[1] - 1))])
    if code == Code.NAN:
        return "NaN"
    kilohertz = f"{share * rate / 2000:.1f} kHz"
    part = (code - Code.LOWEST) / (Code.HIGHEST - Code.LOWEST)
    decibels = QUIETEST_SHOWN_DB + part * (LOUDEST_SHOWN_DB - QUIETEST_SHOWN_DB)
    below = "below " if code == Code.BELOW else ""
    return f"{kilohertz}: {below}{_signed(max(decibels, QUIETEST_SHOWN_DB), 0)} dB"


def _signed(number: float, digits: int = 4) -> str:
    return f"{number:.{digits}f}".replace("-", MINUS)


def _decibels(level: float) -> str:
    return f", {_signed(20 * log10(abs(level)), 1)} dB" if level and np.isfinite(level) else ""
