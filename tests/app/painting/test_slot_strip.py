"""The map of slots as a user meets it: seen, hovered, clicked and walked by keyboard."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from kvstudio.app.painting.slot_strip import SlotStrips
from kvstudio.app.painting.strip_scene import Selection
from kvstudio.app.painting.strips import MarkKind, PaintedRole, Strip, StripGroup, StripMark
from kvstudio.app.theme import DARK, LIGHT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

R = PaintedRole
OFFSET = 68


def strip(name: str, capacity: int = 210, **special: slice) -> Strip:
    """19 slots of voice, 32 of text, 17 generated, the rest unwritten but for `special`."""
    roles = np.full(capacity, R.UNWRITTEN, np.uint8)
    for first, end, role in ((0, 19, R.VOICE), (19, 51, R.TEXT), (51, OFFSET, R.GENERATED)):
        roles[first:end] = role
    for role_name, slots in special.items():
        roles[slots] = PaintedRole[role_name]
    return Strip(name, roles, OFFSET, capacity)


def demo() -> list[StripGroup]:
    flow = tuple(strip(f"L{i}") for i in range(6))
    codec = np.full(1000, R.UNWRITTEN, np.uint8)
    codec[:272] = R.GENERATED
    return [
        StripGroup("FlowLM", flow),
        StripGroup("Mimi decoder", tuple(Strip(f"D{i}", codec, 272, 1000) for i in range(2))),
    ]


@pytest.fixture
def strips(qtbot: QtBot) -> SlotStrips:
    view = SlotStrips(LIGHT)
    qtbot.addWidget(view)
    view.resize(900, 320)
    view.set_groups(demo())
    view.show()
    return view


def picture(view: SlotStrips) -> QImage:
    return view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def colors(view: SlotStrips, layer: int, first: int, end: int, inset: int = 3) -> Counter[str]:
    """Colours in the inner part of some slots."""
    area = view.slot_rect(layer, first).united(view.slot_rect(layer, end - 1))
    inside = area.adjusted(inset, inset, -inset, -inset).toRect()
    image = picture(view)
    return Counter(
        image.pixelColor(x, y).name()
        for x in range(inside.left(), inside.right() + 1)
        for y in range(inside.top(), inside.bottom() + 1)
    )


def click(
    view: SlotStrips,
    layer: int,
    slot: int,
    modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    at = view.slot_rect(layer, slot).center().toPoint()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, modifier, at)


def test_roles_have_their_colours_and_unwritten_is_hatched(strips: SlotStrips) -> None:
    assert colors(strips, 0, 0, 4).most_common(1)[0][0] == LIGHT.voice
    assert set(colors(strips, 7, 5, 40)) == {LIGHT.generated}
    unwritten = colors(strips, 2, 80, 100)
    assert unwritten[LIGHT.unwritten] > 0
    assert len(unwritten) > 2, "lines on a ground, not one colour"


def test_text_is_dotted(strips: SlotStrips) -> None:
    text = colors(strips, 0, 19, 26)
    assert text.most_common(1)[0][0] == LIGHT.text_slot
    assert len(text) > 1


def test_words_name_the_runs(strips: SlotStrips) -> None:
    for first, end in ((0, 19), (19, 51), (51, OFFSET), (110, 170)):
        inked = sum(
            count
            for name, count in colors(strips, 0, first, end).items()
            if QColor(name).lightnessF() < 0.45
        )
        assert inked > 12, (first, end)
    assert all(QColor(name).lightnessF() > 0.5 for name in colors(strips, 0, 75, 90))


@pytest.mark.parametrize(
    ("name", "color"),
    [("NAN", LIGHT.nan), ("DROPPED", LIGHT.dropped), ("STALE", LIGHT.stale), ("HOLE", LIGHT.hole)],
)
def test_one_bad_slot_in_a_thousand_is_seen_across_28_layers(
    strips: SlotStrips, name: str, color: str
) -> None:
    layers = [strip(f"L{i}", 1000) for i in range(24)]
    layers[7] = strip("L7", 1000, **{name: slice(333, 334)})
    strips.set_groups([StripGroup("FlowLM", tuple(layers)), *demo()[1:]])
    assert colors(strips, 7, 325, 342, 0)[color] >= 6
    assert colors(strips, 8, 325, 342, 0)[color] == 0


def test_the_offset_is_a_line_through_the_layers(strips: SlotStrips) -> None:
    image = picture(strips)
    rect = strips.slot_rect(3, OFFSET)
    at = {
        image.pixelColor(round(rect.left()) + dx, round(rect.center().y())).name()
        for dx in (-1, 0, 1)
    }
    assert LIGHT.text in at


def test_an_offset_that_differs_from_the_others_is_loud(strips: SlotStrips) -> None:
    layers = [strip(f"L{i}") for i in range(6)]
    layers[2] = Strip("L2", layers[2].roles, OFFSET + 5, 210)
    assert LIGHT.error not in colors(strips, 2, OFFSET + 2, OFFSET + 9)
    strips.set_groups([StripGroup("FlowLM", tuple(layers))])
    assert LIGHT.error in colors(strips, 2, OFFSET + 2, OFFSET + 9)


def test_a_strip_grows_on_a_fixed_axis(strips: SlotStrips) -> None:
    small, large = strip("L0", 100), strip("L0", 210)
    strips.set_groups([StripGroup("FlowLM", (small,), 210)])
    before = strips.slot_rect(0, 50)
    assert set(colors(strips, 0, 120, 150)) == {LIGHT.panel}
    strips.set_groups([StripGroup("FlowLM", (large,), 210)])
    assert strips.slot_rect(0, 50) == before
    assert LIGHT.unwritten in colors(strips, 0, 120, 150)


def test_dropped_slots_lie_past_the_capacity(strips: SlotStrips) -> None:
    roles = np.full(222, R.GENERATED, np.uint8)
    roles[210:] = R.DROPPED
    strips.set_groups([StripGroup("FlowLM", (Strip("L0", roles, 210, 210),))])
    assert colors(strips, 0, 212, 221)[LIGHT.dropped] > 5
    assert strips.hit(strips.slot_rect(0, 215).center()) == (0, 215)


@pytest.mark.parametrize(
    ("kind", "color"),
    [
        (MarkKind.READ, LIGHT.read_mark),
        (MarkKind.WRITE, LIGHT.write_mark),
        (MarkKind.EDIT, LIGHT.edited),
        (MarkKind.FINDING, LIGHT.error),
    ],
)
def test_a_mark_is_seen_where_it_points(strips: SlotStrips, kind: MarkKind, color: str) -> None:
    def seen() -> int:
        image = picture(strips)
        rect = strips.slot_rect(2, 60).adjusted(-6, -2, 6, 2).toRect()
        return sum(
            image.pixelColor(x, y).name() == color
            for x in range(rect.left(), rect.right())
            for y in range(rect.top(), rect.bottom())
        )

    assert seen() == 0
    strips.set_marks([StripMark(2, 60, 61, kind)])
    assert seen() >= 4


def test_a_click_selects_a_slot(strips: SlotStrips, qtbot: QtBot) -> None:
    with qtbot.waitSignal(strips.slots_selected) as selected:
        click(strips, 3, 68)
    assert selected.args == [3, 68, 69]
    assert strips.selection == Selection(3, 68, 69, 68)
    assert LIGHT.accent in colors(strips, 3, 66, 71)


def test_shift_click_selects_a_range(strips: SlotStrips, qtbot: QtBot) -> None:
    click(strips, 3, 60)
    with qtbot.waitSignal(strips.slots_selected) as selected:
        click(strips, 3, 50, Qt.KeyboardModifier.ShiftModifier)
    assert selected.args == [3, 50, 61]


def test_dragging_selects_a_range(strips: SlotStrips, qtbot: QtBot) -> None:
    start, end = (strips.slot_rect(1, slot).center().toPoint() for slot in (20, 30))
    viewport = strips.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    with qtbot.waitSignal(strips.slots_selected) as selected:
        QTest.mouseMove(viewport, end)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)
    assert selected.args == [1, 20, 31]


def test_selecting_by_program_tells_nobody(strips: SlotStrips, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(strips.slots_selected):
        strips.select(2, 10, 20)
    assert strips.selection == Selection(2, 10, 20, 10)
    strips.clear_selection()
    assert strips.selection is None


def test_hovering_tells_layer_and_slot_once(strips: SlotStrips) -> None:
    seen: list[tuple[int, int]] = []
    strips.slot_hovered.connect(lambda layer, slot: seen.append((layer, slot)))
    at = strips.slot_rect(7, 500).center().toPoint()
    QTest.mouseMove(strips.viewport(), at)
    QTest.mouseMove(strips.viewport(), at + QPoint(0, 1))
    strips.leaveEvent(QEvent(QEvent.Type.Leave))
    assert len(seen) == 2
    assert seen[0][0] == 7
    assert abs(seen[0][1] - 500) <= 1
    assert seen[1] == (-1, -1)


@pytest.mark.parametrize(
    ("slot", "words"),
    [
        (0, "L1, slot 0: voice"),
        (OFFSET, "L1, slot 68: unwritten (NaN), the next write goes here"),
    ],
)
def test_a_tip_says_what_a_slot_is(strips: SlotStrips, slot: int, words: str) -> None:
    at = strips.slot_rect(1, slot).center().toPoint()
    event = QHelpEvent(QEvent.Type.ToolTip, at, strips.viewport().mapToGlobal(at))
    QApplication.sendEvent(strips.viewport(), event)
    assert QToolTip.text() == words
    QToolTip.hideText()


NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.mark.parametrize(
    ("key", "modifier", "expected"),
    [
        (Qt.Key.Key_Right, NONE, (2, 21, 22)),
        (Qt.Key.Key_Left, NONE, (2, 19, 20)),
        (Qt.Key.Key_Down, NONE, (3, 20, 21)),
        (Qt.Key.Key_Up, NONE, (1, 20, 21)),
        (Qt.Key.Key_PageUp, NONE, (0, 20, 21)),
        (Qt.Key.Key_PageDown, NONE, (7, 20, 21)),
        (Qt.Key.Key_Home, NONE, (2, 0, 1)),
        (Qt.Key.Key_End, NONE, (2, 209, 210)),
        (Qt.Key.Key_Right, CTRL, (2, 51, 52)),
        (Qt.Key.Key_Left, CTRL, (2, 19, 20)),
        (Qt.Key.Key_Right, SHIFT, (2, 20, 22)),
        (Qt.Key.Key_Home, SHIFT, (2, 0, 21)),
    ],
)
def test_keys_walk_over_the_slots(
    strips: SlotStrips,
    qtbot: QtBot,
    key: Qt.Key,
    modifier: Qt.KeyboardModifier,
    expected: tuple[int, int, int],
) -> None:
    strips.select(2, 20, 21)
    with qtbot.waitSignal(strips.slots_selected) as selected:
        QTest.keyClick(strips, key, modifier)
    assert selected.args == list(expected)


def test_the_first_key_goes_to_the_first_slot(strips: SlotStrips) -> None:
    QTest.keyClick(strips, Qt.Key.Key_Down)
    assert strips.selection == Selection(0, 0, 1, 0)
    assert strips.accessibleDescription() == "L0, slot 0: voice"


def test_extending_keeps_the_far_end(strips: SlotStrips) -> None:
    strips.select(2, 20, 21)
    for _ in range(3):
        QTest.keyClick(strips, Qt.Key.Key_Left, SHIFT)
    QTest.keyClick(strips, Qt.Key.Key_Right, SHIFT)
    assert strips.selection == Selection(2, 18, 21, 18)


def test_keys_magnify_and_back(strips: SlotStrips) -> None:
    strips.select(0, OFFSET, OFFSET + 1)
    width = strips.slot_rect(0, OFFSET).width()
    where = strips.slot_rect(0, OFFSET).center().x()
    QTest.keyClick(strips, Qt.Key.Key_Plus)
    assert strips.slot_rect(0, OFFSET).width() == pytest.approx(width * 1.25)
    assert strips.slot_rect(0, OFFSET).center().x() == pytest.approx(where, abs=1)
    QTest.keyClick(strips, Qt.Key.Key_0)
    assert strips.zoom == 1
    QTest.keyClick(strips, Qt.Key.Key_Minus)
    assert strips.zoom == 1, "there is nothing to see beyond the whole"


def turn_wheel(view: SlotStrips, at: QPointF, turns: int, modifier: Qt.KeyboardModifier) -> None:
    wheel = QWheelEvent(
        at,
        QPointF(view.viewport().mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        modifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), wheel)


def test_the_wheel_magnifies_around_the_pointer(strips: SlotStrips) -> None:
    at = strips.slot_rect(7, 300).center()
    turn_wheel(strips, at, 1, CTRL)
    assert strips.zoom == pytest.approx(1.25)
    assert strips.slot_rect(7, 300).center().x() == pytest.approx(at.x(), abs=1)


def test_the_wheel_with_shift_scrolls_along_the_slots(strips: SlotStrips) -> None:
    strips.set_zoom(4)
    before = strips.slot_rect(0, 50).left()
    turn_wheel(strips, QPointF(400, 60), -1, SHIFT)
    assert strips.slot_rect(0, 50).left() < before - 50
    assert strips.zoom == 4


def test_what_is_selected_comes_into_view(strips: SlotStrips) -> None:
    strips.resize(500, 150)
    strips.set_zoom(10)
    strips.select(7, 900, 901)
    visible = strips.viewport().rect().toRectF()
    assert visible.contains(strips.slot_rect(7, 900))
    strips.select(0, 0, 1)
    assert visible.contains(strips.slot_rect(0, 0))


def test_a_selection_in_a_layer_that_is_gone_is_dropped(strips: SlotStrips) -> None:
    strips.select(7, 5, 6)
    strips.set_groups(demo()[:1])
    assert strips.selection is None


def test_it_follows_the_theme(strips: SlotStrips) -> None:
    strips.set_palette(DARK)
    assert set(colors(strips, 7, 5, 40)) == {DARK.generated}


def test_without_groups_it_is_empty_and_harmless(strips: SlotStrips) -> None:
    strips.set_groups([])
    assert strips.hit(QPointF(200, 60)) is None
    QTest.keyClick(strips, Qt.Key.Key_Right)
    assert strips.selection is None
    image = picture(strips)
    assert image.pixelColor(200, 60).name() == LIGHT.panel
