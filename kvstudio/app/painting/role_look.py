"""How each role looks: its colour, and a pattern and a glyph that tell it without colour."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from kvstudio.app.painting.hatch import Pattern, pattern_brush
from kvstudio.app.painting.strips import PaintedRole
from kvstudio.app.theme import Palette, ink_on

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QBrush


@dataclass(frozen=True)
class Look:
    """One role in one palette.

    Attributes:
        color: of the run as a whole, also where it is too narrow for a pattern.
        pattern: absent for the plain ones.
        ink: of the pattern.
        glyph: strokes in a box from -1 to 1, on narrow runs of what must not be overlooked.
    """

    color: str
    pattern: Pattern | None = None
    ink: str = ""
    glyph: tuple[tuple[float, float, float, float], ...] = ()
    is_hollow: bool = False

    @property
    def narrow_color(self) -> str:
        """For runs too narrow for the pattern: what is drawn hollow is solid then."""
        return self.ink if self.is_hollow else self.color

    def brush(self, ratio: float) -> QBrush | QColor:
        if self.pattern is None:
            return QColor(self.color)
        return pattern_brush(self.pattern, self.ink, self.color, ratio)


_X = ((-1.0, -1.0, 1.0, 1.0), (-1.0, 1.0, 1.0, -1.0))
_PLUS = ((-1.0, 0.0, 1.0, 0.0), (0.0, -1.0, 0.0, 1.0))
_EQUALS = ((-1.0, -0.5, 1.0, -0.5), (-1.0, 0.5, 1.0, 0.5))
_SLASH = ((-1.0, 1.0, 1.0, -1.0),)
_BACKSLASH = ((-1.0, -1.0, 1.0, 1.0),)
_BAR = ((0.0, -1.0, 0.0, 1.0),)


@lru_cache(maxsize=8)
def looks(palette: Palette) -> dict[int, Look]:
    """The look of every `PaintedRole`."""
    ground = palette.background
    faint = "#66ffffff" if palette.is_dark else "#60103050"
    return {
        PaintedRole.UNWRITTEN: Look(palette.unwritten, Pattern.DIAGONAL, palette.hatch),
        PaintedRole.VOICE: Look(palette.voice),
        PaintedRole.TEXT: Look(palette.text_slot, Pattern.DOTS, faint),
        PaintedRole.GENERATED: Look(palette.generated),
        PaintedRole.EDITED: Look(palette.edited, Pattern.VERTICAL, ink_on(palette.edited), _BAR),
        PaintedRole.STALE: Look(palette.stale, Pattern.CROSS, ink_on(palette.stale), _EQUALS),
        PaintedRole.HOLE: Look(ground, Pattern.FALLING, palette.hole, _BACKSLASH, True),
        PaintedRole.DROPPED: Look(ground, Pattern.CROSSES, palette.dropped, _SLASH, True),
        PaintedRole.NAN: Look(palette.nan, Pattern.CROSSES, ink_on(palette.nan), _X),
        PaintedRole.INF: Look(palette.inf, Pattern.PLUSES, ink_on(palette.inf), _PLUS),
        PaintedRole.NOTHING: Look(palette.panel),
    }


@lru_cache(maxsize=8)
def narrow_colors(palette: Palette) -> NDArray[np.uint32]:
    """`[role]` as 0xffrrggbb."""
    colors = np.zeros(len(PaintedRole), np.uint32)
    for role, look in looks(palette).items():
        colors[role] = QColor(look.narrow_color).rgb()
    return colors


def draw_glyph(painter: QPainter, look: Look, centre: QPointF, size: float) -> None:
    """A small plate with the role's glyph, `size` wide."""
    plate = QRectF(0, 0, size, size)
    plate.moveCenter(centre)
    painter.fillRect(plate, QColor(look.narrow_color))
    arm = size * 0.3
    painter.setPen(QPen(QColor(ink_on(look.narrow_color)), 1.4))
    painter.drawLines(
        [
            QLineF(
                centre.x() + x1 * arm, centre.y() + y1 * arm,
                centre.x() + x2 * arm, centre.y() + y2 * arm,
            )
            for x1, y1, x2, y2 in look.glyph
        ]
    )  # fmt: skip
