"""Makes a track's spectrogram piece by piece, so that ten minutes of it do not stop the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from kvstudio.app.sound.level_picture import LevelPicture

if TYPE_CHECKING:
    from kvstudio.app.sound.track import SoundTrack


class GrowingLevels(QObject):
    """The spectrogram of a track, made while somebody wants to see it.

    Signals:
        grown: there are more columns than before.
    """

    grown = Signal()

    def __init__(self, track: SoundTrack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.track = track
        self.picture: LevelPicture | None = None
        self._pause = QTimer(self, singleShot=True, interval=0)
        self._pause.timeout.connect(self._on_pause_timeout)

    def forget(self) -> None:
        """Begin anew, for another track."""
        self._pause.stop()
        self.picture = None

    def go_on(self) -> LevelPicture:
        """The picture with a piece more; further pieces follow by themselves."""
        if self.picture is None:
            self.picture = LevelPicture(self.track.sample_rate)
        if self.picture.go_on(self.track.samples):
            self._pause.start()
        return self.picture

    def rest(self) -> None:
        """Make no more for now."""
        self._pause.stop()

    def _on_pause_timeout(self) -> None:
        self.go_on()
        self.grown.emit()
