"""Break on: the kinds of findings at which every run is to hold; kept from session to session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from kvstudio.app.findings.kinds import GROUPS, KIND_WORDS

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QWidget

    from kvstudio.app.settings import Settings

KEY = "breaks"
TIP = (
    "Kinds of findings at which every run holds, whichever key began it. None at first: Run goes "
    "on to the end, as it says, and what is found waits in Findings."
)


class BreakMenu(QMenu):
    """A checklist that stays open while one ticks.

    Signals:
        kinds_changed: (kinds) a list of other ones.
    """

    kinds_changed = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__("&Break on", parent)
        self._settings = settings
        self.setToolTipsVisible(True)
        self.menuAction().setToolTip(TIP)
        self.boxes: dict[str, QAction] = {}
        self._groups: list[QMenu] = []
        self.every = self._box(self, "&Any finding", "Hold at whatever is found")
        self.every.triggered.connect(self._on_every_triggered)
        self.addSeparator()
        for title, kinds in GROUPS:
            group = _OpenMenu(title, self)
            group.setToolTipsVisible(True)
            self.addMenu(group)
            self._groups.append(group)
            for kind, words in kinds.items():
                self.boxes[kind] = self._box(group, kind, words[0].upper() + words[1:])
                self.boxes[kind].triggered.connect(self._on_box_triggered)
        kept = settings.remembered(KEY).get("kinds")
        self._show([kind for kind in kept if kind in KIND_WORDS] if isinstance(kept, list) else [])

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, box in self.boxes.items() if box.isChecked()]

    # ---- private ------------------------------------------------------------------------------

    def _box(self, menu: QMenu, text: str, tip: str) -> QAction:
        box = QAction(text, menu, checkable=True)
        box.setToolTip(tip)
        menu.addAction(box)
        return box

    def _show(self, kinds: list[str]) -> None:
        for kind, box in self.boxes.items():
            box.setChecked(kind in kinds)
        for menu, (title, group) in zip(self._groups, GROUPS, strict=True):
            ticked = len(set(group) & set(kinds))
            menu.setTitle(f"{title} ({ticked})" if ticked else title)
        self.every.setChecked(len(kinds) == len(self.boxes))
        how_many = "any finding" if self.every.isChecked() else str(len(kinds))
        self.setTitle(f"&Break on ({how_many})" if kinds else "&Break on")

    def _tell(self, kinds: list[str]) -> None:
        self._show(kinds)
        self._settings.remember(KEY, {"kinds": kinds})
        self.kinds_changed.emit(kinds)

    def _on_every_triggered(self, wanted: bool) -> None:
        self._tell(list(self.boxes) if wanted else [])

    def _on_box_triggered(self) -> None:
        self._tell(self.kinds)

    # ---- Qt overrides -------------------------------------------------------------------------

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not _ticked(self):
            super().mouseReleaseEvent(event)


class _OpenMenu(QMenu):
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not _ticked(self):
            super().mouseReleaseEvent(event)


def _ticked(menu: QMenu) -> bool:
    """Ticks the box under the pointer; whether there was one."""
    action = menu.activeAction()
    if action is None or not action.isCheckable():
        return False
    action.trigger()
    return True
