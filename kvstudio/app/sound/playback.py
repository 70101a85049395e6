"""What is heard of a track: all of it, a frame, a loop, or each frame as it arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from kvstudio.app.player import Player
    from kvstudio.app.sound.track import SoundTrack


class Playback(QObject):
    """Plays ranges of a track that may grow meanwhile.

    Signals:
        changed: something begins or ends to sound, or pauses.
        position_moved: the sample heard now.
        failed: why nothing is heard, in words.
    """

    changed = Signal()
    position_moved = Signal(int)
    failed = Signal(str)

    def __init__(self, track: SoundTrack, player: Player, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.track, self.player = track, player
        self.start = 0
        self.each_frame = False
        self.looping = False
        self._fed: int | None = None  # samples the player has of this track
        self._was_sounding = False
        player.setParent(self)
        player.started.connect(self._on_player_started)
        player.finished.connect(self._on_player_finished)
        player.failed.connect(self._on_player_failed)
        player.position_moved.connect(self._on_player_position_moved)

    @property
    def active(self) -> bool:
        """Whether a range is being played, paused or not."""
        return self.player.playing and not self._lingers

    @property
    def sounding(self) -> bool:
        return self.active and not self.player.paused

    @property
    def playhead(self) -> int | None:
        """The sample to mark: heard now, or from where playing would begin if not from 0."""
        if self.active:
            return self.player.position
        return self.start or None

    def forget(self) -> None:
        """Fall silent, for another track; what is in it at the next `feed` counts as heard."""
        self.player.stop()
        self.start, self._fed = 0, None

    def feed(self) -> None:
        """Hand over what the track has more than the last time."""
        samples, fed = self.track.samples, self._fed
        self._fed = len(samples)
        if fed is None:
            self.player.load(samples, self.track.sample_rate)
        elif len(samples) > fed:
            self.player.append(samples[fed:])

    def set_each_frame(self, wanted: bool) -> None:
        """Whether frames are played as they arrive; those that are there already are not."""
        self.feed()
        self.each_frame = wanted
        self.player.set_following(wanted)

    def toggle(self, selection: tuple[int, int] | None) -> None:
        """Play, pause or go on: the selection, else from `start` to the end."""
        if self.sounding:
            self.player.pause()
            self._tell()
        elif self.active:
            self.player.resume()
            self._tell()
        elif selection is not None:
            self.play(*selection)
        else:
            self.play(self.start if self.start < len(self.track) else 0)

    def play(self, first: int = 0, last: int | None = None, *, loop: bool = False) -> None:
        self.feed()
        # A failed attempt ends the following; whoever plays again wants it back.
        self.player.set_following(self.each_frame)
        self.player.play(first, last, loop=loop)
        self.looping = loop and self.player.playing
        self._tell()

    def stop(self) -> None:
        """Fall silent; when silent already, go back to the beginning."""
        if self.active:
            self.player.stop()
        else:
            self.start = 0
            self._tell()

    # ---- private ------------------------------------------------------------------------------

    @property
    def _lingers(self) -> bool:
        """Whether the device is only kept open for the next frame."""
        player = self.player
        return player.playing and player.following and player.position >= player.length

    def _tell(self) -> None:
        self._was_sounding = self.sounding
        self.changed.emit()

    def _on_player_started(self) -> None:
        self._tell()

    def _on_player_finished(self) -> None:
        self.looping = False
        self._tell()

    def _on_player_failed(self, why: str) -> None:
        self.looping = False
        self._tell()
        self.failed.emit(why)

    def _on_player_position_moved(self, sample: int) -> None:
        self.position_moved.emit(sample)
        if self.sounding != self._was_sounding:
            self._tell()
