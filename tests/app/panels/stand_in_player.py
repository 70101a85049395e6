"""A `Player` without a device, which tells what it was asked to play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvstudio.app.player import Player

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Played = tuple[int, "int | None", bool]


class StandInPlayer(Player):
    """Plays at the test's own pace, see `hear` and `finish`.

    Attributes:
        played: (first, last, loop) of everything that began to play.
        volume: as last set.
        why: why nothing can be heard; empty if it can.
    """

    def __init__(self) -> None:
        super().__init__()
        self.played: list[Played] = []
        self.volume = 1.0
        self.why = ""
        self._plays = self._pauses = False

    @property
    def why_silent(self) -> str:
        return self.why

    @property
    def playing(self) -> bool:
        return self._plays

    @property
    def paused(self) -> bool:
        return self._plays and self._pauses

    def play(self, first: int = 0, last: int | None = None, *, loop: bool = False) -> None:
        self.stop()
        if self.why:
            self.set_following(False)
            self.failed.emit(self.why)
            return
        self.played.append((first, last, loop))
        self._plays, self._pauses = True, False
        self._position = first
        self.started.emit()

    def append(self, samples: NDArray[np.float32]) -> None:
        start = self.length
        assert self._clip is not None
        self._clip.append(samples)
        if self.following and not self._plays:
            self.play(start)

    def pause(self) -> None:
        self._pauses = self._plays

    def resume(self) -> None:
        self._pauses = False

    def stop(self) -> None:
        if self._plays:
            self._plays = False
            self.finished.emit()

    def set_volume(self, volume: float) -> None:
        self.volume = volume

    def hear(self, sample: int) -> None:
        """Let this sample be the one heard now."""
        self._move_to(sample)
