"""A matrix of codes as a picture in a pyqtgraph view: values coloured, states unmistakable.

Painted from the bottom up:

1. a diagonal hatch in device pixels, wherever there are unwritten cells;
2. the codes through their table of colours, where unwritten cells among others are transparent;
3. dots over masked regions, and a word in each region that is large enough;
4. zoomed out, a spot on every NaN and Inf, so that none falls between two pixels;
   zoomed in, a glyph in each of them: x for NaN, + and - for Inf.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QTransform, qRgba

from kvstudio.app.codes import Code, lookup_table
from kvstudio.app.painting.code_scan import CodeScan, Region, scan
from kvstudio.app.painting.hatch import Pattern, pattern_brush
from kvstudio.app.painting.words import draw_word, fitting_word
from kvstudio.app.theme import ink_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

    from kvstudio.app.codes import CodeArray
    from kvstudio.app.painting.code_scan import Run
    from kvstudio.app.theme import Palette

SMALLEST_GLYPH_CELL = 6.0
SPOT = 3.0


class CodeImageItem(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph is untyped
    """Paints uint8 codes `[rows, columns]`; cell (r, c) covers x in [c, c + 1), y in [r, r + 1).

    Attributes:
        fill: what an unwritten cell holds, in a word.
    """

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._codes: CodeArray = np.empty((0, 0), np.uint8)
        self._image = QImage()
        self._regions: Sequence[Region] | None = None
        self._scan: CodeScan = scan(self._codes)
        self._palette = palette
        self.fill = "NaN"

    def set_codes(self, codes: CodeArray, regions: Sequence[Region] | None = None) -> None:
        """Show a matrix; it is not copied if its rows are contiguous.

        Args:
            codes: uint8 `[rows, columns]`; after changing it in place call `refresh`.
            regions: where the words go; found from the codes (whole rows, else whole columns) if
                absent.
        """
        if codes.shape != self._codes.shape:
            self.prepareGeometryChange()
            self.informViewBoundsChanged()
        self._codes = np.ascontiguousarray(codes)
        rows, columns = codes.shape
        # QImage borrows the array's memory; self._codes keeps it alive.
        self._image = QImage(
            self._codes.data, columns, rows, columns, QImage.Format.Format_Indexed8
        )
        self._regions = regions
        self.refresh()

    def refresh(self) -> None:
        """Look at the codes again after they changed in place."""
        self._scan = scan(self._codes)
        see_through = 0 if self._scan.has_loose_unwritten else 255
        self._image.setColorTable(_color_table(self._palette, see_through))
        self.update()

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.refresh()

    def cell_at(self, position: QPointF) -> tuple[int, int] | None:
        """The (row, column) under a position in the item's own coordinates."""
        rows, columns = self._codes.shape
        row, column = int(np.floor(position.y())), int(np.floor(position.x()))
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def _visible_cells(self) -> QRectF:
        """What the view shows, in whole cells."""
        view = self.viewRect()
        bounds = self.boundingRect()
        seen = bounds if view is None else bounds.intersected(view)
        return QRectF(seen.toAlignedRect()).intersected(bounds)

    def _words(self) -> Sequence[Region]:
        if self._regions is not None:
            return self._regions
        return self._scan.regions(*self._codes.shape)

    def _paint_cells(self, painter: QPainter, to_view: QTransform, seen: QRectF) -> None:
        hatched = self._bands(self._scan.unwritten_rows, seen)
        colored = self._bands(self._scan.other_rows, seen)
        ratio = painter.device().devicePixelRatioF()
        colors = self._palette
        hatch = pattern_brush(Pattern.DIAGONAL, colors.hatch, colors.unwritten, ratio)
        painter.resetTransform()
        for band in [*hatched, *colored] if self._scan.has_loose_unwritten else hatched:
            painter.fillRect(to_view.mapRect(band), hatch)
        for band in colored:
            self._paint_colors(painter, to_view, band)
        painter.setWorldTransform(to_view)

    def _paint_colors(self, painter: QPainter, to_view: QTransform, band: QRectF) -> None:
        """Paint a band of cells; where they are smaller than pixels, only those that are seen."""
        ratio = painter.device().devicePixelRatioF()
        target = to_view.mapRect(band)
        width, height = ceil(target.width() * ratio), ceil(target.height() * ratio)
        if width >= band.width() or height >= band.height():
            painter.setWorldTransform(to_view)
            painter.drawImage(band, self._image, band)
            painter.resetTransform()
            return
        rows = _nearest(band.top(), band.height(), height)
        columns = _nearest(band.left(), band.width(), width)
        codes = np.zeros((height, (width + 3) // 4 * 4), np.uint8)  # QImage wants rows of words
        codes[:, :width] = self._codes[rows][:, columns]
        stride = codes.shape[1]
        image = QImage(codes.data, width, height, stride, QImage.Format.Format_Indexed8)
        image.setColorTable(self._image.colorTable())
        painter.drawImage(target, image)

    def _bands(self, runs: list[Run], seen: QRectF) -> list[QRectF]:
        width = self._codes.shape[1]
        bands = (QRectF(0, top, width, end - top).intersected(seen) for top, end in runs)
        return [band for band in bands if not band.isEmpty()]

    def _paint_special(self, painter: QPainter, to_view: QTransform, seen: QRectF) -> None:
        rows, columns = np.divmod(self._scan.special, max(1, self._codes.shape[1]))
        inside = (rows >= seen.top()) & (rows < seen.bottom())
        inside &= (columns >= seen.left()) & (columns < seen.right())
        rows, columns = rows[inside], columns[inside]
        codes = self._codes[rows, columns]
        x = (columns + 0.5) * to_view.m11() + to_view.dx()
        y = (rows + 0.5) * to_view.m22() + to_view.dy()
        cell = min(abs(to_view.m11()), abs(to_view.m22()))
        for code in (Code.NEG_INF, Code.POS_INF, Code.NAN):
            here = codes == code
            if not here.any():
                continue
            if cell < SPOT:
                _draw_spots(painter, x[here], y[here], self._state_color(code))
            elif cell >= SMALLEST_GLYPH_CELL:
                _draw_glyphs(painter, code, x[here], y[here], cell, self._state_color(code))

    def _state_color(self, code: Code) -> str:
        return self._palette.nan if code == Code.NAN else self._palette.inf

    def _paint_region(self, painter: QPainter, region: Region, shown: QRectF) -> None:
        colors = self._palette
        if region.code == Code.MASKED:
            ratio = painter.device().devicePixelRatioF()
            ink = ink_on(colors.masked)
            painter.fillRect(shown, pattern_brush(Pattern.DOTS, ink, colors.masked, ratio))
        unwritten = (f"unwritten ({self.fill})", "unwritten")
        words = unwritten if region.code == Code.UNWRITTEN else ("masked",)
        word = fitting_word(shown, words, painter.font())
        if word is not None:
            draw_word(painter, shown, word, colors.muted_text, colors.panel)

    # Qt overrides

    def boundingRect(self) -> QRectF:
        rows, columns = self._codes.shape
        return QRectF(0, 0, columns, rows)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        seen = self._visible_cells()
        if seen.isEmpty():
            return
        to_view = painter.worldTransform()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        self._paint_cells(painter, to_view, seen)
        painter.resetTransform()
        for region in self._words():
            shown = region.rect.intersected(seen)
            if not shown.isEmpty():
                self._paint_region(painter, region, to_view.mapRect(shown))
        self._paint_special(painter, to_view, seen)
        painter.setWorldTransform(to_view)


def _nearest(first: float, cells: float, pixels: int) -> NDArray[np.intp]:
    """The cell in the middle of each pixel."""
    return np.floor(first + (np.arange(pixels) + 0.5) * cells / pixels).astype(np.intp)


@lru_cache(maxsize=8)
def _color_table(palette: Palette, unwritten_alpha: int) -> list[int]:
    table = lookup_table(palette)
    table[Code.UNWRITTEN, 3] = unwritten_alpha
    return [qRgba(*entry) for entry in table.tolist()]


def _draw_spots(
    painter: QPainter, x: NDArray[np.float64], y: NDArray[np.float64], color: str
) -> None:
    """One spot per place; cells that share a place share the spot."""
    places = np.unique(np.rint(x) + 1j * np.rint(y))
    pen = QPen(QColor(color), SPOT)
    pen.setCapStyle(Qt.PenCapStyle.SquareCap)
    painter.setPen(pen)
    painter.drawPoints(pg.functions.arrayToQPolygonF(places.real, places.imag))


def _draw_glyphs(
    painter: QPainter,
    code: Code,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    cell: float,
    color: str,
) -> None:
    """An x, a + or a - in the middle of each cell."""
    arm = min(cell * 0.25, 5.0)
    strokes = {
        Code.NAN: ((-1, -1, 1, 1), (-1, 1, 1, -1)),
        Code.POS_INF: ((-1, 0, 1, 0), (0, -1, 0, 1)),
        Code.NEG_INF: ((-1, 0, 1, 0),),
    }[code]
    painter.setPen(QPen(QColor(ink_on(color)), 1.5))
    for x1, y1, x2, y2 in strokes:
        xs = np.stack([x + x1 * arm, x + x2 * arm], axis=1).ravel()
        ys = np.stack([y + y1 * arm, y + y2 * arm], axis=1).ravel()
        painter.drawPath(pg.functions.arrayToQPath(xs, ys, connect="pairs"))
