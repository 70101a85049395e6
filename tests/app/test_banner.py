"""Messages: how many, how they go, and that they never take the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from kvstudio.app.banner import Banner

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@pytest.fixture
def banner(qtbot: QtBot) -> Banner:
    made = Banner()
    qtbot.addWidget(made)
    made.show()
    return made


def texts(banner: Banner) -> list[str]:
    return [message.words.text() for message in banner.messages]


def test_three_messages_stay_and_the_oldest_goes(banner: Banner) -> None:
    for number in range(5):
        banner.show_message(f"message {number}")
    assert texts(banner) == ["message 2", "message 3", "message 4"]


def test_the_same_words_again_are_one_message(banner: Banner) -> None:
    for words in ("again", "other", "again"):
        banner.show_message(words)
    assert texts(banner) == ["other", "again"]


def test_a_button_dismisses(banner: Banner, qtbot: QtBot) -> None:
    message = banner.show_message("gone")
    with qtbot.waitSignal(banner.emptied_or_filled) as changed:
        message.buttons["Dismiss"].click()
    assert changed.args == [False]
    assert not banner.dismiss_newest()


def test_an_action_is_done_once_and_its_message_goes(banner: Banner, qtbot: QtBot) -> None:
    done: list[str] = []
    message = banner.show_message("dead", action=("Restart engine", lambda: done.append("x")))
    message.buttons["Restart engine"].click()
    assert done == ["x"]
    assert banner.messages == []


def test_details_unfold(banner: Banner, qtbot: QtBot) -> None:
    message = banner.show_message("failed", detail="Traceback: line 7")
    assert not message.detail.isVisible()
    message.buttons["Details"].click()
    assert message.detail.isVisible()
    assert message.detail.toPlainText() == "Traceback: line 7"


def test_without_details_there_is_no_button_for_them(banner: Banner) -> None:
    assert list(banner.show_message("plain").buttons) == ["Dismiss"]


def test_words_are_not_read_as_markup(banner: Banner) -> None:
    message = banner.show_message("<b>model</b>")
    assert message.words.textFormat() == Qt.TextFormat.PlainText


def test_the_focus_stays_where_it_is(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    banner, line = Banner(), QLineEdit()
    column = QVBoxLayout(window)
    column.addWidget(banner)
    column.addWidget(line)
    window.show()
    line.setFocus()
    qtbot.waitUntil(line.hasFocus)
    message = banner.show_message("look", detail="x", action=("Do", lambda: None))
    left = Qt.MouseButton.LeftButton
    QTest.mouseClick(message.buttons["Details"], left)
    assert message.detail.isVisible()
    assert line.hasFocus()
