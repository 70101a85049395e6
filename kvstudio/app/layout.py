"""The first arrangement of the docks; the user may change all of it.

+--------+-----------------+-----------+
| setup  | cache map       | findings  |
| ledger +-----------------+-----------+
| cases  | layer           | ops       |
|        |                 | tensors   |
|        |                 | log       |
+--------+-----------------+-----------+
| frames                               |
| audio                                |
+--------------------------------------+
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow

# What sits where, the first of each group in front; keys of panels.
Group = tuple[str, ...]
LEFT: Group = ("setup", "ledger", "cases")
UPPER: Group = ("cache_map",)
LOWER: Group = ("layer",)
RIGHT: Group = ("findings",)
RIGHT_BELOW: Group = ("ops", "tensors", "log")
BOTTOM: Group = ("frames",)
FOOT: Group = ("audio",)

# Shares of the window's height and width; a form gains nothing from more width.
LEFT_WIDTHS = (316, 360)
RIGHT_SHARE = 0.31
HEIGHTS = (
    (UPPER, 0.34), (LOWER, 0.23), (RIGHT, 0.29), (RIGHT_BELOW, 0.24), (BOTTOM, 0.12), (FOOT, 0.2),
)  # fmt: skip
# Where all is low, the sound gives way, and the findings to the ops.
LOW = 860
LOW_HEIGHTS = (
    (UPPER, 0.36), (LOWER, 0.23), (RIGHT, 0.25), (RIGHT_BELOW, 0.28), (BOTTOM, 0.12), (FOOT, 0.17),
)  # fmt: skip

SETTLING_MS = 1500  # until then a window system has given a new window the size it asked for

ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
# (beside which group, which group, in which direction); every split divides the first one's place.
SPLITS = (
    (LEFT, UPPER, ACROSS),
    (UPPER, BOTTOM, DOWN),
    (BOTTOM, FOOT, DOWN),
    (UPPER, RIGHT, ACROSS),
    (RIGHT, RIGHT_BELOW, DOWN),
    (UPPER, LOWER, DOWN),
)
GROUPS: tuple[Group, ...] = (LEFT, UPPER, LOWER, RIGHT, RIGHT_BELOW, BOTTOM, FOOT)


def arrange(window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
    """Puts every dock into its first place, hidden ones too; a missing panel leaves no gap."""
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    first = docks[LEFT[0]]
    window.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, first)
    for beside, group, orientation in SPLITS:
        for dock in _present(docks, group)[:1]:
            place = [*_present(docks, beside), first][0]
            window.splitDockWidget(place, dock, orientation)
    for group in GROUPS:
        _stack(window, _present(docks, group))


def resize(window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
    """Gives the docks their first sizes; works once the window has its own."""
    width, height = window.width(), window.height()
    left = max(LEFT_WIDTHS[0], min(width // 4, LEFT_WIDTHS[1]))
    right = round(RIGHT_SHARE * width)
    widths = {LEFT: left, UPPER: width - left - right, RIGHT: right}
    shares = LOW_HEIGHTS if height < LOW else HEIGHTS
    heights = {group: round(share * height) for group, share in shares}
    for sizes, orientation in ((widths, ACROSS), (heights, DOWN)):
        sized = {group: docks[group[0]] for group in sizes if group[0] in docks}
        window.resizeDocks(list(sized.values()), [sizes[each] for each in sized], orientation)


class Settling(QObject):
    """Lays a new window out once more whenever it gets another size while it comes up.

    A window that is shown maximized learns its size a moment later. A layout that was restored
    before would then be stretched, and a little more so at each start.
    """

    def __init__(self, window: QMainWindow, lay_out: Callable[[], object]) -> None:
        super().__init__(window)
        self._lay_out = lay_out
        window.installEventFilter(self)
        QTimer.singleShot(SETTLING_MS, self, self.deleteLater)
        lay_out()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            QTimer.singleShot(0, self, self._lay_out)
        return super().eventFilter(watched, event)


def _present(docks: Mapping[str, QDockWidget], group: Group) -> list[QDockWidget]:
    return [docks[key] for key in group if key in docks]


def _stack(window: QMainWindow, group: list[QDockWidget]) -> None:
    """One behind the other, the first in front."""
    for dock in group[1:]:
        window.tabifyDockWidget(group[0], dock)
    for dock in group:
        dock.show()
    if group:
        group[0].raise_()
