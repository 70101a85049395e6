"""The text of a source file and its marked line."""

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from kvstudio.app.source_view import SourceView
from kvstudio.app.theme import LIGHT, apply_theme

TEXT = "\n".join(f"line {number}" for number in range(1, 301))


@pytest.fixture
def view(qtbot: QtBot) -> SourceView:
    view = SourceView()
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    qtbot.waitExposed(view)
    return view


def in_sight(view: SourceView) -> range:
    first = view.text.firstVisibleBlock().blockNumber() + 1
    rows = view.text.viewport().height() // view.text.fontMetrics().lineSpacing()
    return range(first, first + rows)


@pytest.mark.parametrize("line", [1, 150, 300])
def test_a_line_is_marked_and_in_sight(view: SourceView, line: int) -> None:
    view.show_line("pocket_tts/x.py", line, "f", TEXT)
    assert view.path.text() == f"pocket_tts/x.py:{line}  in f"
    assert view.text.marked_text == f"line {line}"
    assert line in in_sight(view)
    view.resize(400, 120)
    assert line in in_sight(view)


def test_the_marked_line_and_the_numbers_are_painted(view: SourceView, qapp: object) -> None:
    apply_theme(qapp, "light")  # type: ignore[arg-type]
    view.restyle()
    view.show_line("x.py", 150, "f", TEXT)
    picture = view.grab().toImage()
    colors = {picture.pixelColor(x, y).name() for x in range(3, 400, 9) for y in range(200)}
    assert {LIGHT.selection, LIGHT.panel} <= colors
    gutter = view.text.viewportMargins().left()
    assert gutter > view.text.fontMetrics().horizontalAdvance("300")


def test_a_line_past_the_end_marks_nothing(view: SourceView) -> None:
    view.show_line("x.py", 900, "f", TEXT)
    assert view.text.marked_line == 0
    assert view.text.extraSelections() == []


def test_the_text_can_be_copied_but_not_changed(view: SourceView) -> None:
    view.show_line("x.py", 2, "f", TEXT)
    assert view.text.isReadOnly()
    view.text.selectAll()
    view.text.copy()
    assert QGuiApplication.clipboard().text() == TEXT


def test_nothing_to_show_leaves_a_sentence(view: SourceView) -> None:
    view.show_line("x.py", 2, "f", TEXT)
    view.clear("Select an op.")
    assert view.text.toPlainText() == ""
    assert view.text.placeholderText() == "Select an op."
    assert view.path.isHidden()
    assert view.text.viewportMargins().left() == 0
    view.grab()
