"""One opened sound device, fed with one passage: the only module that names QtMultimedia.

QtMultimedia takes a tenth of a second to import and may lack a system library, so it is imported
at the first need.
"""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QElapsedTimer, QIODevice, QObject

from kvstudio.app.passage import Clip, DeviceForm, Passage

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QAudioDevice, QAudioFormat

    from kvstudio.app.passage import SampleKind

AHEAD_MS = 200
"""Handed over ahead: the window may stall this long without a gap in the sound."""

LEAD_IN_MS = 40
"""Silence before the first sample: a device that wakes up may swallow what comes first."""

SERVER_LATENCY_MS = 100
"""How much PulseAudio holds for us. Qt asks for 1,024 instants, which a busy machine outruns:
in 180 clips played beside two others, 20 had dropouts, against 1 with this. It is asked for
through the environment, where the user's own wish comes first."""

DEVICE_LATENCY_MS = 65 if sys.platform == "linux" else 20
"""From leaving our queue to being heard; against a PulseAudio monitor, 52 to 78 ms measured."""

STALL_MS = 5_000
"""A device that takes nothing for this long is gone; PulseAudio reports no removed sink."""

NO_DEVICE = (
    "No sound device was found, so nothing can be heard. Connect one and start KVStudio again; "
    "everything else works without it."
)
NO_LIBRARY = (
    "Qt's sound library cannot be loaded, so nothing can be heard: {reason}. Install what is "
    "missing (on Debian and Ubuntu: libpulse0) and start KVStudio again."
)
_ERRORS = {
    "OpenError": "it cannot be opened",
    "IOError": "samples cannot be written to it",
    "FatalError": "it is gone or its sound server does not answer",
}


def why_silent() -> str:
    """Why nothing can be heard on this machine, in words; empty if it can."""
    try:
        device = _default_device()
    except ImportError as error:
        return NO_LIBRARY.format(reason=error)
    return NO_DEVICE if device.isNull() else ""


class SoundStream(QObject):
    """The default device, opened, with a passage of a clip on its way to it.

    Raises nothing: look at `trouble` after making it, and at every tick.

    Args:
        clip: the samples, which may grow.
        first: first sample.
        last: one past the last sample; `None` is the end of the clip, even if it moves.
        loop: begin again after the end.
        volume: 0 to 1, as the ear judges.
        parent: owner.
    """

    def __init__(
        self,
        clip: Clip,
        first: int,
        last: int | None,
        *,
        loop: bool,
        volume: float,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        from PySide6.QtMultimedia import QAudioSink

        device = _default_device()
        audio_format = _choose_format(device, clip.sample_rate)
        self.device_name = device.description()
        self._passage = Passage(clip, _form(audio_format), first, last, loop=loop)
        self._lead_in = audio_format.sampleRate() * LEAD_IN_MS // 1_000
        self._handed_over = 0  # instants, after the lead-in
        self._consumed = -self._lead_in  # instants that have left our queue
        self._since_progress = QElapsedTimer()
        self._since_progress.start()
        self._sink = QAudioSink(device, audio_format, self)
        self._sink.setBufferSize(audio_format.bytesForDuration(AHEAD_MS * 1_000))
        self.set_volume(volume)
        # PySide6 gives None when the device cannot be opened; its stubs do not say so.
        self._queue = cast("QIODevice | None", self._sink.start())
        if self._queue is not None:
            self._queue.write(self._passage.silence(self._lead_in))
        self.hand_over()

    def hand_over(self) -> None:
        """Give the device as many samples as it has room for."""
        if self._queue is None or self.trouble():
            return
        size = self._passage.form.instant_bytes
        instants = self._passage.instants(self._handed_over, self._sink.bytesFree() // size)
        if instants:
            self._handed_over += max(0, self._queue.write(instants)) // size

    def note_progress(self) -> None:
        """See how much the device has consumed since the last call."""
        rate = self._passage.form.sample_rate
        consumed = round(self._sink.processedUSecs() * rate / 1e6) - self._lead_in
        consumed = min(consumed, self._handed_over)
        if consumed != self._consumed:
            self._consumed = consumed
            self._since_progress.start()

    def trouble(self) -> str:
        """What keeps the device from playing, in words; empty if nothing does."""
        # WORKAROUND: a Python slot of QAudioSink.stateChanged raises TypeError in PySide6 6.11
        # (QAudio::State has no converter), so the state is asked for, and by name, because the
        # enum moved between releases: https://doc.qt.io/qt-6/qaudiosink.html#stateChanged
        if self._queue is None or self._sink.state().name == "StoppedState":
            return _ERRORS.get(self._sink.error().name, _ERRORS["OpenError"])
        if self._consumed < self._handed_over and self._since_progress.hasExpired(STALL_MS):
            return f"it took nothing for {STALL_MS // 1_000} seconds"
        return _ERRORS.get(self._sink.error().name, "")

    @property
    def heard_sample(self) -> int:
        """The sample of the clip that is heard now."""
        rate = self._passage.form.sample_rate
        behind = DEVICE_LATENCY_MS - (self.dry_ms if self._consumed == self._handed_over else 0)
        return self._passage.sample_at(self._consumed - max(0, behind) * rate // 1_000)

    @property
    def dry_ms(self) -> int:
        """For how long there has been nothing left to give to the device."""
        has_more = self._passage.loop or self._handed_over < self._passage.instant_count
        if has_more or self._consumed < self._handed_over:
            return 0
        return self._since_progress.elapsed()

    def set_volume(self, volume: float) -> None:
        self._sink.setVolume(amplitude(volume))

    def suspend(self) -> None:
        self._sink.suspend()

    def resume(self) -> None:
        self._sink.resume()
        self._since_progress.start()

    def close(self) -> None:
        # A sink that is destroyed while it plays takes its queue from under its own thread.
        self._sink.stop()
        self._queue = None
        self.deleteLater()


def amplitude(volume: float) -> float:
    """The factor on samples for a volume as the ear judges it: half as loud is half the volume.

    The curve of `QAudio.convertVolume`, which lives in another class in some releases of Qt.
    """
    return 1.0 if volume > 0.99 else -math.log(1 - volume) / math.log(100)


def _default_device() -> QAudioDevice:
    os.environ.setdefault("PULSE_LATENCY_MSEC", str(SERVER_LATENCY_MS))
    from PySide6.QtMultimedia import QMediaDevices

    return QMediaDevices.defaultAudioOutput()


def _choose_format(device: QAudioDevice, sample_rate: int) -> QAudioFormat:
    """The clip's own rate in mono if the device takes it, else what the device likes best."""
    from PySide6.QtMultimedia import QAudioFormat

    wanted = QAudioFormat()
    wanted.setSampleRate(sample_rate)
    wanted.setChannelCount(1)
    wanted.setSampleFormat(QAudioFormat.SampleFormat.Float)
    return wanted if device.isFormatSupported(wanted) else device.preferredFormat()


def _form(audio_format: QAudioFormat) -> DeviceForm:
    kind = cast("SampleKind", audio_format.sampleFormat().name)
    return DeviceForm(audio_format.sampleRate(), audio_format.channelCount(), kind)
