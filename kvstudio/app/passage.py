"""Mono samples as a sound device takes them: a range of a clip, in the device's own rate and form.

No Qt in here. An *instant* is what audio libraries call a frame: one value per channel. The
word frame is taken by the 80 ms that a decode step yields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    SampleKind = Literal["UInt8", "Int16", "Int32", "Float"]


@dataclass(frozen=True)
class DeviceForm:
    """What a device takes: instants per second, values per instant, and the kind of value."""

    sample_rate: int
    channels: int
    kind: SampleKind

    @property
    def instant_bytes(self) -> int:
        return self.channels * _DTYPES[self.kind].itemsize


class Clip:
    """Samples that can grow at the end without copying the whole each time."""

    def __init__(self, samples: NDArray[np.float32], sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._room = np.array(samples, np.float32).reshape(-1)
        self._length = self._room.size

    def __len__(self) -> int:
        return self._length

    @property
    def samples(self) -> NDArray[np.float32]:
        return self._room[: self._length]

    def append(self, samples: NDArray[np.float32]) -> None:
        length = self._length + samples.size
        if length > self._room.size:
            room = np.empty(max(length, 2 * self._room.size), np.float32)
            room[: self._length] = self.samples
            self._room = room
        self._room[self._length : length] = samples.reshape(-1)
        self._length = length


class Passage:
    """A range of a clip as instants for a device, once or round and round.

    Args:
        clip: may grow while the passage is played.
        form: what the device takes.
        first: first sample.
        last: one past the last sample; `None` is the end of the clip, wherever that is by then.
        loop: begin again after the end, for ever.
    """

    def __init__(
        self, clip: Clip, form: DeviceForm, first: int, last: int | None, *, loop: bool
    ) -> None:
        self.form = form
        self.loop = loop
        self._clip = clip
        self._first = min(max(0, first), len(clip))
        end = len(clip) if last is None else min(last, len(clip))
        self._last = None if last is None and not loop else end
        self._samples_per_instant = clip.sample_rate / form.sample_rate

    @property
    def sample_count(self) -> int:
        last = len(self._clip) if self._last is None else self._last
        return max(0, last - self._first)

    @property
    def instant_count(self) -> int:
        """Instants of one round."""
        return -(-self.sample_count * self.form.sample_rate // self._clip.sample_rate)

    def instants(self, start: int, count: int) -> bytes:
        """Instants `[start, start + count)`, fewer where the passage ends before."""
        if not self.loop:
            count = min(count, self.instant_count - start)
        if count <= 0 or not self.sample_count:
            return b""
        return _encoded(self._levels(start, count), self.form)

    def silence(self, count: int) -> bytes:
        return _encoded(np.zeros(count, np.float32), self.form)

    def sample_at(self, instant: int) -> int:
        """The sample of the clip that an instant belongs to."""
        position = int(max(0, instant) * self._samples_per_instant)
        if self.loop and self.sample_count:
            return self._first + position % self.sample_count
        return self._first + min(position, self.sample_count)

    def _levels(self, start: int, count: int) -> NDArray[np.float32]:
        """Values between -1 and 1 `[count]`, interpolated where the rates differ."""
        samples = self._clip.samples[self._first : self._first + self.sample_count]
        position = np.arange(start, start + count) * self._samples_per_instant
        index = position.astype(np.int64)
        here = _playable(samples.take(index, mode="wrap" if self.loop else "clip"))
        if self._samples_per_instant == 1:
            return here
        following = _playable(samples.take(index + 1, mode="wrap" if self.loop else "clip"))
        share = (position - index).astype(np.float32)
        return here + share * (following - here)


def _playable(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Silence for what is not a number, and full scale for what is beyond it."""
    return np.clip(np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0)


def _encoded(levels: NDArray[np.float32], form: DeviceForm) -> bytes:
    values = _SCALES[form.kind] * levels.astype(np.float64) + _ZEROS[form.kind]
    if form.kind != "Float":
        values = np.rint(values)
    instants = np.full((len(levels), form.channels), _ZEROS[form.kind], _DTYPES[form.kind])
    # The first two channels are front left and right; more speakers than that stay silent.
    instants[:, :2] = values[:, None]
    return instants.tobytes()


_DTYPES: dict[str, np.dtype[np.generic]] = {
    "UInt8": np.dtype(np.uint8),
    "Int16": np.dtype(np.int16),
    "Int32": np.dtype(np.int32),
    "Float": np.dtype(np.float32),
}
_SCALES = {"UInt8": 127, "Int16": 32_767, "Int32": 2_147_483_647, "Float": 1}
_ZEROS = {"UInt8": 128, "Int16": 0, "Int32": 0, "Float": 0}
