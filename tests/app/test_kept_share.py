"""A splitter's place is divided as the user left it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget
from pytestqt.qtbot import QtBot

from kvstudio.app.kept_share import KeptShare


def split(qtbot: QtBot) -> tuple[QSplitter, KeptShare]:
    splitter = QSplitter(Qt.Orientation.Vertical)
    splitter.addWidget(QWidget())
    splitter.addWidget(QWidget())
    splitter.resize(200, 400)
    qtbot.addWidget(splitter)
    return splitter, KeptShare(splitter, "here", 0.75)


def test_the_share_is_remembered_for_each_way_it_lies(qtbot: QtBot) -> None:
    splitter, share = split(qtbot)
    splitter.show()
    share.divide()
    first, second = splitter.sizes()
    assert abs(first - 3 * second) < 12
    splitter.setSizes([100, 300])
    splitter.splitterMoved.emit(100, 1)
    again, kept = split(qtbot)
    assert abs(kept.share - 0.25) < 0.02
    again.setOrientation(Qt.Orientation.Horizontal)
    assert kept.share == 0.75
