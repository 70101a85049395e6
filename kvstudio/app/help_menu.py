"""The Help menu: keyboard shortcuts, and which versions are at work."""

import platform
from collections.abc import Callable, Iterable, Mapping

import PySide6
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QMainWindow, QMenu, QVBoxLayout

import kvstudio
from kvstudio.app.painting.icons import application_icon
from kvstudio.app.theme import current_palette
from kvstudio.recording import protocol as p

# Keys that are no action's shortcut.
PLAIN_KEYS = {
    "Left, Right": "frame back, frame on (outside text fields)",
    "Home, End": "first frame, newest frame (outside text fields)",
    "Space": "play or pause the sound (in Audio)",
    "Shift+Space": "play the frame (in Audio)",
    "L": "loop the frame or the selection (in Audio)",
    "Up, Down, Enter": "choose a finding, go to its origin (in Findings)",
    "Esc": "dismiss the newest message",
    "F1": "this list",
}


class HelpMenu:
    """Fills a Help menu.

    Args:
        actions: those whose shortcuts are listed.
        show_cases: shows the guided cases.
    """

    def __init__(
        self,
        window: QMainWindow,
        actions: Iterable[QAction],
        show_cases: Callable[[], object],
    ) -> None:
        self._window, self._actions, self._show_cases = window, list(actions), show_cases
        self._versions: Mapping[str, str] = {}

    def fill_menu(self, menu: QMenu) -> None:
        menu.addAction("&Guided Cases", self._show_cases)
        menu.addAction("&Keyboard Shortcuts", self.show_shortcuts).setShortcut("F1")
        menu.addAction("&About KVStudio", self.show_about)

    def take_event(self, event: object) -> None:
        if isinstance(event, p.Ready):
            self._versions = event.versions

    def show_shortcuts(self) -> QDialog:
        known = {
            action.shortcut().toString(): action.text().replace("&", "").rstrip("…")
            for action in self._actions
            if not action.shortcut().isEmpty()
        }
        return _dialog(self._window, "Keyboard Shortcuts", _table({**known, **PLAIN_KEYS}))

    def show_about(self) -> QDialog:
        ours = {
            "KVStudio": kvstudio.__version__,
            "window": f"Python {platform.python_version()}, PySide6 {PySide6.__version__}",
        }
        theirs = {key: each for key, each in self._versions.items() if key != "kvstudio"}
        named = ", ".join(f"{key.replace('_', '-')} {each}" for key, each in theirs.items())
        lines = {**ours, "engine": named or "not running"}
        words = "<p>A step debugger for the KV cache of pocket-tts.</p>" + _table(lines)
        dialog = _dialog(self._window, "About KVStudio", words)
        dialog.setWindowIcon(application_icon(current_palette()))
        return dialog


def _dialog(window: QMainWindow, title: str, words: str) -> QDialog:
    dialog = QDialog(window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    label = QLabel(words)
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.close)
    buttons.button(QDialogButtonBox.StandardButton.Close).setIcon(QIcon())
    column = QVBoxLayout(dialog)
    column.setContentsMargins(18, 14, 18, 14)
    column.addWidget(label)
    column.addWidget(buttons)
    dialog.open()
    return dialog


def _table(lines: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><td style='padding: 3px 22px 3px 0'><b>{left}</b></td>"
        f"<td style='padding: 3px 0'>{right}</td></tr>"
        for left, right in lines.items()
    )
    return f"<table cellspacing='0'>{rows}</table>"
