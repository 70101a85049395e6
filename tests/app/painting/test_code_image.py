"""What a user sees of a code matrix: values in colour, and no state that passes for a value."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage

from kvstudio.app.codes import Code, lookup_table
from kvstudio.app.painting.code_image import CodeImageItem
from kvstudio.app.painting.code_scan import Region
from kvstudio.app.theme import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from pytestqt.qtbot import QtBot

SIDE = 240


class Screen:
    """A view of 240 x 240 pixels that shows `area` of a code image, row 0 on top."""

    def __init__(self, qtbot: QtBot) -> None:
        self.view = pg.GraphicsView()
        qtbot.addWidget(self.view)
        self.view.setFrameShape(pg.GraphicsView.Shape.NoFrame)
        self.view.resize(SIDE, SIDE)
        self.box = pg.ViewBox(invertY=True, enableMenu=False, border=None, defaultPadding=0)
        self.view.setCentralItem(self.box)
        self.item = CodeImageItem(LIGHT)
        self.box.addItem(self.item)

    def picture(
        self,
        codes: NDArray[np.uint8],
        area: QRectF | None = None,
        regions: Sequence[Region] | None = None,
    ) -> QImage:
        self.item.set_codes(codes, regions)
        self.box.setRange(area or self.item.boundingRect(), padding=0)
        return self.grabbed()

    def grabbed(self) -> QImage:
        image: QImage = self.view.grab().toImage()
        return image.convertToFormat(QImage.Format.Format_RGB32)


@pytest.fixture
def screen(qtbot: QtBot) -> Screen:
    return Screen(qtbot)


def colors_in(image: QImage, area: tuple[int, int, int, int]) -> Counter[str]:
    left, top, right, bottom = area
    return Counter(
        image.pixelColor(x, y).name() for x in range(left, right) for y in range(top, bottom)
    )


def color_of(code: int) -> str:
    return QColor(*lookup_table(LIGHT)[code, :3].tolist()).name()


def test_each_value_is_painted_in_its_colour(screen: Screen) -> None:
    codes = np.array([[Code.LOWEST, Code.MIDDLE], [Code.HIGHEST, Code.ABOVE]], np.uint8)
    image = screen.picture(codes)
    quarters = [(30, 30), (180, 30), (30, 180), (180, 180)]
    seen = [image.pixelColor(x, y).name() for x, y in quarters]
    assert seen == [color_of(code) for code in codes.flat]


def test_unwritten_rows_are_hatched_and_named(screen: Screen) -> None:
    codes = np.full((10, 10), Code.MIDDLE, np.uint8)
    codes[5:] = Code.UNWRITTEN
    image = screen.picture(codes)
    assert set(colors_in(image, (10, 10, 230, 110))) == {color_of(Code.MIDDLE)}
    hatched = colors_in(image, (10, 130, 230, 160))
    assert hatched[color_of(Code.MIDDLE)] == 0
    assert len(hatched) > 2, "lines on a ground, not one colour"
    word = colors_in(image, (70, 170, 170, 190))
    assert word[LIGHT.muted_text] > 10


def test_no_word_is_squeezed_into_a_thin_region(screen: Screen) -> None:
    codes = np.full((60, 10), Code.MIDDLE, np.uint8)
    codes[58:] = Code.UNWRITTEN
    image = screen.picture(codes)
    assert colors_in(image, (0, 232, 240, 240))[LIGHT.muted_text] == 0


def test_a_single_unwritten_head_among_written_ones_is_hatched(screen: Screen) -> None:
    codes = np.full((4, 4), Code.MIDDLE, np.uint8)
    codes[1, 1] = Code.UNWRITTEN
    image = screen.picture(codes)
    inside = colors_in(image, (62, 62, 118, 118))
    assert inside[color_of(Code.MIDDLE)] == 0
    assert len(inside) > 2


@pytest.mark.parametrize(
    ("code", "color"),
    [(Code.NAN, LIGHT.nan), (Code.POS_INF, LIGHT.inf), (Code.NEG_INF, LIGHT.inf)],
)
def test_one_bad_cell_among_a_million_is_seen(screen: Screen, code: Code, color: str) -> None:
    codes = np.full((1000, 1000), Code.MIDDLE, np.uint8)
    codes[501, 707] = code
    image = screen.picture(codes)
    assert colors_in(image, (165, 115, 175, 126))[color] >= 4


def test_zoomed_in_each_state_has_its_own_glyph(screen: Screen) -> None:
    glyphs = []
    for code in (Code.NAN, Code.POS_INF, Code.NEG_INF, Code.MIDDLE):
        image = screen.picture(np.full((3, 3), code, np.uint8))
        ground = image.pixelColor(85, 85).name()
        shape = [
            image.pixelColor(x, y).name() != ground
            for x in range(100, 140)
            for y in range(100, 140)
        ]
        glyphs.append(shape)
    assert all(any(shape) for shape in glyphs[:3])
    assert not any(glyphs[3]), "a value has no glyph"
    assert all(a != b for i, a in enumerate(glyphs) for b in glyphs[:i])


def test_a_masked_region_is_dotted_and_named(screen: Screen) -> None:
    codes = np.full((4, 4), Code.MASKED, np.uint8)
    image = screen.picture(codes, regions=[Region(Code.MASKED, (0, 4), (0, 4))])
    assert colors_in(image, (10, 10, 60, 60))[LIGHT.masked] > 100
    assert len(colors_in(image, (10, 10, 60, 60))) > 1
    assert colors_in(image, (90, 110, 150, 130))[LIGHT.panel] > 100, "the plate of the word"


def test_the_codes_are_shown_without_a_copy(screen: Screen) -> None:
    codes = np.full((4, 4), Code.LOWEST, np.uint8)
    screen.picture(codes)
    codes[:] = Code.HIGHEST
    screen.item.refresh()
    assert screen.grabbed().pixelColor(100, 100).name() == color_of(Code.HIGHEST)


def test_a_part_of_a_larger_matrix_can_be_shown(screen: Screen) -> None:
    whole = np.full((8, 8), Code.LOWEST, np.uint8)
    whole[2:6, 2:6] = Code.HIGHEST
    image = screen.picture(whole[2:6, 2:6])
    assert set(colors_in(image, (5, 5, 235, 235))) == {color_of(Code.HIGHEST)}


def test_it_follows_the_theme(screen: Screen) -> None:
    screen.picture(np.full((2, 2), Code.NAN, np.uint8))
    screen.item.set_palette(DARK)
    assert screen.grabbed().pixelColor(20, 20).name() == DARK.nan


def test_an_empty_matrix_paints_nothing(screen: Screen) -> None:
    screen.item.set_codes(np.empty((0, 0), np.uint8))
    screen.item.set_palette(DARK)
    assert len(colors_in(screen.grabbed(), (5, 5, 235, 235))) == 1


@pytest.mark.parametrize(
    ("position", "cell"),
    [((0.0, 0.0), (0, 0)), ((2.9, 1.1), (1, 2)), ((3.0, 0.0), None), ((-0.1, 0.0), None)],
)
def test_the_cell_under_the_cursor(
    screen: Screen, position: tuple[float, float], cell: tuple[int, int] | None
) -> None:
    screen.item.set_codes(np.zeros((2, 3), np.uint8))
    assert screen.item.cell_at(QPointF(*position)) == cell


def test_a_matrix_far_larger_than_the_view_keeps_its_shapes(screen: Screen) -> None:
    codes = np.full((3000, 1100), Code.LOWEST, np.uint8)
    codes[:1500, 550:] = Code.HIGHEST
    codes[2250:] = Code.UNWRITTEN
    image = screen.picture(codes, regions=[])
    assert colors_in(image, (2, 2, 118, 178)) == {color_of(Code.LOWEST): 116 * 176}
    assert colors_in(image, (122, 2, 238, 118)) == {color_of(Code.HIGHEST): 116 * 116}
    assert colors_in(image, (122, 122, 238, 178)) == {color_of(Code.LOWEST): 116 * 56}
    assert color_of(Code.LOWEST) not in colors_in(image, (2, 182, 238, 238))
