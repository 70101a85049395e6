"""The View menu: which docks are shown, the first layout again, light or dark."""

from collections.abc import Callable, Iterable
from typing import cast

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication, QDockWidget, QMenu, QWidget

from kvstudio.app.settings import Settings
from kvstudio.app.theme import Mode, apply_theme

MODES: tuple[tuple[Mode, str], ...] = (
    ("system", "As the &System"),
    ("light", "&Light"),
    ("dark", "&Dark"),
)


def fill_view_menu(
    menu: QMenu, docks: Iterable[QDockWidget], reset: Callable[[], object], settings: Settings
) -> None:
    for dock in docks:
        menu.addAction(dock.toggleViewAction())
    menu.addSeparator()
    menu.addAction("&Reset Layout", reset)
    menu.addSeparator()
    menu.addMenu(_theme_menu(menu, settings))


def _theme_menu(parent: QWidget, settings: Settings) -> QMenu:
    menu = QMenu("&Theme", parent)
    group = QActionGroup(menu)
    for mode, words in MODES:
        action = QAction(words, menu, checkable=True, checked=mode == settings.theme)
        action.setData(mode)
        group.addAction(action)
        menu.addAction(action)

    def on_group_triggered(action: QAction) -> None:
        settings.theme = str(action.data())
        apply_theme(cast("QApplication", QApplication.instance()), cast("Mode", action.data()))

    group.triggered.connect(on_group_triggered)
    return menu
