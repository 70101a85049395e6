"""Plays the two runs of a case, one or both, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kvstudio.app.player import Player
    from kvstudio.recording.rows import Floats

PAUSE_SECONDS = 0.7
MOST_SECONDS = 6.0
"""A faulty run may go on in silence for long; nobody wants to wait for that."""


class CaseSound(QObject):
    """Signals.

    changed: something else is heard, or nothing any more; see `heard`.
    failed: why nothing is heard, in words.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, player: Player, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.player = player
        self.heard = ""
        self._parts: list[tuple[int, str]] = []  # first sample, name
        player.setParent(self)
        player.position_moved.connect(self._on_player_position_moved)
        player.finished.connect(self._on_player_finished)
        player.failed.connect(self._on_player_failed)

    def play(self, named: Sequence[tuple[str, Path]]) -> None:
        """Plays recordings one after the other; `heard` is the name of the one that sounds."""
        try:
            clips = [(name, *_sound_of(path)) for name, path in named]
        except RecordingError as error:
            self.failed.emit(str(error))
            return
        rate = clips[0][2]
        pause = np.zeros(round(PAUSE_SECONDS * rate), np.float32)
        samples: list[Floats] = []
        self._parts, first = [], 0
        for name, sound, _ in clips:
            self._parts.append((first, name))
            samples += [sound, pause]
            first += len(sound) + len(pause)
        self.player.load(np.concatenate(samples[:-1]), rate)
        self.player.play()
        self._tell(self._parts[0][1] if self.player.playing else "")

    def stop(self) -> None:
        self.player.stop()
        self._tell("")

    # ---- private ------------------------------------------------------------------------------

    def _tell(self, name: str) -> None:
        if name != self.heard:
            self.heard = name
            self.changed.emit()

    def _on_player_position_moved(self, sample: int) -> None:
        if self.player.playing:
            self._tell([name for first, name in self._parts if first <= sample][-1])

    def _on_player_finished(self) -> None:
        self._tell("")

    def _on_player_failed(self, why: str) -> None:
        self._tell("")
        self.failed.emit(why)


def _sound_of(path: Path) -> tuple[Floats, int]:
    """Samples and sample rate."""
    with Recording.open(path) as recording:
        rate = recording.facts.sample_rate or 24_000
        return recording.audio()[: round(MOST_SECONDS * rate)], rate
