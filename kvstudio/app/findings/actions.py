"""From finding to finding: two keys that work everywhere but in text fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QMainWindow, QMenu

    from kvstudio.app.workspace import Workspace


class FindingActions:
    """Enabled while there are findings.

    Args:
        go_to: goes to the next finding (1) or the one before (-1).
    """

    def __init__(
        self, window: QMainWindow, workspace: Workspace, go_to: Callable[[int], object]
    ) -> None:
        self._workspace = workspace
        self.next = self._make(window, "Ne&xt Finding", "N", lambda: go_to(1))
        self.previous = self._make(window, "Pre&vious Finding", "Shift+N", lambda: go_to(-1))
        workspace.findings.changed.connect(self._on_findings_changed)
        self._on_findings_changed()

    def fill_menu(self, menu: QMenu) -> None:
        menu.addAction(self.next)
        menu.addAction(self.previous)

    # ---- private ------------------------------------------------------------------------------

    def _make(
        self, window: QMainWindow, text: str, keys: str, pressed: Callable[[], object]
    ) -> QAction:
        action = QAction(text, window)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
        action.triggered.connect(lambda: pressed())
        window.addAction(action)
        return action

    def _on_findings_changed(self) -> None:
        for action in (self.next, self.previous):
            action.setEnabled(bool(self._workspace.findings.findings))
