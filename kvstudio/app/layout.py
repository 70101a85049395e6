"""The first arrangement of the docks; the user may change all of it.

+--------+-----------------+-----------+
| setup  | cache map       | ops       |
| ledger +-----------------+ tensors   |
|        | layer           | log       |
+--------+-----------------+-----------+
| frames                               |
| audio                                |
+--------------------------------------+
"""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

# What sits where, the first of each group in front; keys of panels.
LEFT = ("setup", "ledger")
UPPER = ("cache_map",)
LOWER = ("layer",)
RIGHT = ("ops", "tensors", "log")
BOTTOM = ("frames",)
FOOT = ("audio",)

# Shares of the window's width and height.
WIDTHS = ((LEFT, 0.235), (UPPER, 0.425), (RIGHT, 0.34))
HEIGHTS = ((UPPER, 0.38), (LOWER, 0.31))
FOOT_HEIGHTS = ((BOTTOM, 0.13), (FOOT, 0.18))


def arrange(window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
    """Puts every dock into its first place; panels that are missing leave no gap."""
    for dock in docks.values():
        window.removeDockWidget(dock)
    upper, lower = _group(docks, UPPER), _group(docks, LOWER)
    middle = upper or lower
    columns = [each for each in (_group(docks, LEFT), middle, _group(docks, RIGHT)) if each]
    feet = [each for each in (_group(docks, BOTTOM), _group(docks, FOOT)) if each]
    _line_up(window, columns, Qt.DockWidgetArea.TopDockWidgetArea, Qt.Orientation.Horizontal)
    _line_up(window, feet, Qt.DockWidgetArea.BottomDockWidgetArea, Qt.Orientation.Vertical)
    if upper and lower:
        window.splitDockWidget(upper[0], lower[0], Qt.Orientation.Vertical)
    for group in (*columns, *feet):
        _stack(window, group)
    for dock in docks.values():
        dock.show()


def resize(window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
    """Gives the docks their first sizes; works once the window has its own."""
    for shares, orientation, whole in (
        (WIDTHS, Qt.Orientation.Horizontal, window.width()),
        (HEIGHTS, Qt.Orientation.Vertical, window.height()),
        (FOOT_HEIGHTS, Qt.Orientation.Vertical, window.height()),
    ):
        sized = [(docks[keys[0]], share) for keys, share in shares if keys[0] in docks]
        sizes = [round(share * whole) for _, share in sized]
        window.resizeDocks([dock for dock, _ in sized], sizes, orientation)


def _line_up(
    window: QMainWindow,
    groups: list[list[QDockWidget]],
    area: Qt.DockWidgetArea,
    orientation: Qt.Orientation,
) -> None:
    for number, group in enumerate(groups):
        if number == 0:
            window.addDockWidget(area, group[0])
        else:
            window.splitDockWidget(groups[number - 1][0], group[0], orientation)


def _group(docks: Mapping[str, QDockWidget], keys: tuple[str, ...]) -> list[QDockWidget]:
    return [docks[key] for key in keys if key in docks]


def _stack(window: QMainWindow, group: list[QDockWidget]) -> None:
    for dock in group[1:]:
        window.tabifyDockWidget(group[0], dock)
    if group:
        group[0].raise_()
