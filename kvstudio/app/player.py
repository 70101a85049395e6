"""Makes samples heard through the machine's sound device, if it has one.

A clip is handed to the device a fifth of a second ahead, by a timer that runs only while
something plays:

1. `play` opens the default device for a range of the clip.
2. Every tick fills what the device has room for, says which sample is heard now, and looks
   whether the device is still alive.
3. When all has been handed over and heard, the device is closed and `finished` is emitted.
   Samples appended before that are played on without a gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from kvstudio.app.passage import Clip
from kvstudio.app.sound_stream import SoundStream, why_silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TICK_MS = 30

TAIL_MS = 200
"""Kept open after the queue has run dry: what the device itself still holds is heard in this."""

LINGER_MS = 2_000
"""Kept open instead while following a run, so that the next frame need not open it again."""

NOTHING_TO_PLAY = "There are no samples to play here."
TROUBLE = "The sound device {device} does not play: {reason}. Play again to retry."


class Player(QObject):
    """Plays ranges of one clip of mono samples.

    Every `started` is followed by one `finished` or one `failed`.

    Signals:
        started: a range begins to play.
        position_moved: the sample heard now.
        finished: the range was heard to its end, or was stopped.
        failed: why nothing is heard (any more), in words.
    """

    started = Signal()
    position_moved = Signal(int)
    finished = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clip: Clip | None = None
        self._stream: SoundStream | None = None
        self._volume = 1.0
        self._position = 0
        self._following = False
        self._timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def available(self) -> bool:
        """Whether there is a device to play on. The first question may take 0.1 s to answer."""
        return not self.why_silent

    @property
    def why_silent(self) -> str:
        """Why nothing can be heard, in words; empty if it can."""
        return why_silent()

    @property
    def playing(self) -> bool:
        """Whether a range is being played, paused or not."""
        return self._stream is not None

    @property
    def paused(self) -> bool:
        return self.playing and not self._timer.isActive()

    @property
    def position(self) -> int:
        """The sample heard now, or last."""
        return self._position

    @property
    def length(self) -> int:
        """Samples in the clip."""
        return len(self._clip) if self._clip else 0

    @property
    def following(self) -> bool:
        """Whether appended samples are played as they arrive."""
        return self._following

    def set_following(self, following: bool) -> None:
        """Play appended samples as they arrive. A failure ends this, so as to be told once."""
        self._following = following

    def load(self, samples: NDArray[np.float32], sample_rate: int) -> None:
        """Stop, and take these samples (mono, full scale at 1) in place of the old."""
        self.stop()
        self._clip = Clip(samples, sample_rate)
        self._move_to(0)

    def append(self, samples: NDArray[np.float32]) -> None:
        """Let the clip grow; what plays up to its end plays on into the new samples."""
        if self._clip is None:
            raise ValueError("load a clip, which may be empty, before appending to it")
        start = len(self._clip)
        self._clip.append(samples)
        if self._stream is None and self._following and samples.size:
            self.play(start)
        elif self._stream is not None and not self.paused:
            self._stream.hand_over()

    def play(self, first: int = 0, last: int | None = None, *, loop: bool = False) -> None:
        """Play samples `[first, last)`, in place of what plays now.

        Args:
            first: first sample.
            last: one past the last; `None` is the end of the clip, even if it moves meanwhile.
            loop: play the range again and again until `stop`.
        """
        self.stop()
        if self._clip is None or not len(self._clip.samples[max(0, first) : last]):
            self._fail(NOTHING_TO_PLAY)
        elif why := self.why_silent:
            self._fail(why)
        else:
            self._start(
                SoundStream(self._clip, first, last, loop=loop, volume=self._volume, parent=self)
            )

    def pause(self) -> None:
        if self._stream is not None:
            self._timer.stop()
            self._stream.suspend()

    def resume(self) -> None:
        if self._stream is not None and self.paused:
            self._stream.resume()
            self._timer.start()

    def stop(self) -> None:
        if self.playing:
            self._close()
            self.finished.emit()

    def set_volume(self, volume: float) -> None:
        """Set how loud it is to the ear, 0 to 1; kept for what is played later."""
        self._volume = min(max(0.0, volume), 1.0)
        if self._stream is not None:
            self._stream.set_volume(self._volume)

    def _start(self, stream: SoundStream) -> None:
        self._stream = stream
        if reason := stream.trouble():
            self._fail(TROUBLE.format(device=stream.device_name, reason=reason))
            return
        self._timer.start()
        self._move_to(stream.heard_sample)
        self.started.emit()

    def _close(self) -> None:
        self._timer.stop()
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _fail(self, words: str) -> None:
        self._close()
        self._following = False
        self.failed.emit(words)

    def _move_to(self, position: int) -> None:
        if position != self._position:
            self._position = position
            self.position_moved.emit(position)

    def _on_timer_timeout(self) -> None:
        stream = self._stream
        if stream is None:
            return
        stream.note_progress()
        stream.hand_over()
        if reason := stream.trouble():
            self._fail(TROUBLE.format(device=stream.device_name, reason=reason))
            return
        all_heard = stream.dry_ms > (LINGER_MS if self._following else TAIL_MS)
        self._move_to(stream.heard_sample)
        if all_heard and self._stream is stream:  # whoever was told may have begun another
            self.stop()
