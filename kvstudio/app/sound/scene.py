"""Everything that the picture of a sound is painted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

    from kvstudio.app.sound.level_picture import LevelPicture
    from kvstudio.app.sound.time_axis import TimeAxis
    from kvstudio.app.sound.track import SoundTrack
    from kvstudio.app.theme import Palette

GUTTER = 46.0
RIGHT_MARGIN = 8.0
RULER_HEIGHT = 17.0
AXIS_HEIGHT = 17.0
GAP = 2.0
WAVE_SHARE = 0.58
WAVE_LIMITS = (0.01, 1.0)


@dataclass(frozen=True)
class SoundLayout:
    """From top to bottom: frame numbers, waveform, spectrogram (perhaps of no height), seconds."""

    ruler: QRectF
    wave: QRectF
    levels: QRectF
    seconds: QRectF

    @property
    def plots(self) -> QRectF:
        """Waveform and spectrogram together."""
        return self.wave.united(self.levels)


@dataclass(frozen=True, eq=False)
class SoundScene:
    """What is painted now.

    Attributes:
        levels: the spectrogram, if it is shown.
        limit: the level at the top of the waveform.
        ratio: device pixels per device-independent pixel.
    """

    layout: SoundLayout
    axis: TimeAxis
    track: SoundTrack
    levels: LevelPicture | None
    limit: float
    palette: Palette
    font: QFont
    ratio: float

    def x_of_sample(self, sample: float) -> float:
        return self.axis.x_of(sample / self.track.sample_rate)

    def sample_at(self, x: float) -> float:
        return self.axis.second_at(x) * self.track.sample_rate

    @property
    def pixels_per_sample(self) -> float:
        return self.axis.pixels_per_second / self.track.sample_rate


def lay_out(width: float, height: float, *, with_levels: bool) -> SoundLayout:
    across = max(1.0, width - GUTTER - RIGHT_MARGIN)
    inner = max(2.0, height - RULER_HEIGHT - AXIS_HEIGHT)
    wave = float(round((inner - GAP) * WAVE_SHARE)) if with_levels else inner
    levels_top = RULER_HEIGHT + wave + (GAP if with_levels else 0.0)
    levels = max(0.0, RULER_HEIGHT + inner - levels_top)
    return SoundLayout(
        QRectF(GUTTER, 0, across, RULER_HEIGHT),
        QRectF(GUTTER, RULER_HEIGHT, across, wave),
        QRectF(GUTTER, levels_top, across, levels),
        QRectF(GUTTER, RULER_HEIGHT + inner, across, AXIS_HEIGHT),
    )


def wave_limit(peak: float) -> float:
    """The level at the top of the waveform, a round number; full scale for a loud one."""
    quiet, loud = WAVE_LIMITS
    steps = (quiet, 0.02, 0.05, 0.1, 0.2, 0.5, loud)
    return next((step for step in steps if peak <= step), loud)
