"""The moves of the run and of the frame cursor: actions, tool bar and Run menu."""

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill
from typing import cast

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QInputDialog,
    QLabel,
    QMainWindow,
    QMenu,
    QSizePolicy,
    QToolBar,
    QToolButton,
    QWidget,
)

from kvstudio.app.findings.break_menu import BreakMenu
from kvstudio.app.painting.icons import IconName, icon
from kvstudio.app.run_control import Move, RunControl
from kvstudio.app.theme import Palette
from kvstudio.app.words import counted
from kvstudio.app.workspace import Workspace

LAST_FRAME = 1_000_000


BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
POPUP = QToolButton.ToolButtonPopupMode.MenuButtonPopup


@dataclass(frozen=True)
class _Entry:
    move: Move
    icon: IconName
    text: str
    short: str
    keys: str
    tip: str


ENTRIES = (
    _Entry("load", "load", "&Load", "Load", "F9", "Load the model and make the voice"),
    _Entry("step", "step", "&Step", "Step", "F10", "One frame; a prefill counts as one"),
    _Entry("step_10", "step_10", "Step &10", "Step 10", "Shift+F10", "Ten frames"),
    _Entry("run", "run", "&Run", "Run", "F5", "Run on to the end"),
    _Entry("pause", "pause", "&Pause", "Pause", "F6", "Hold before the next frame"),
    _Entry("run_to", "run_to", "Run &to Frame…", "Run to…", "F7", "Run until a frame is complete"),
    _Entry(
        "run_to_finding", "run_to_finding", "Run to F&inding", "Run to finding", "Shift+F7",
        "Run until something is found to be wrong; the arrow lists kinds to hold at always",
    ),
    _Entry("stop", "stop", "St&op", "Stop", "Shift+F5", "End the run, or cancel the loading"),
    _Entry("restart", "restart", "R&estart", "Restart", "Ctrl+F5", "Begin the same run again"),
)  # fmt: skip
CURSOR_ICONS: tuple[IconName, ...] = ("first", "back", "forward", "last")
WITH_WORDS: tuple[Move, ...] = ("load", "step", "run")
MOVING: tuple[Move, ...] = ("step", "step_10", "run", "run_to", "run_to_finding")
ANEW = "Begins a new run of what Setup holds; this recording is kept. "
BREAKS_BEFORE: tuple[Move, ...] = ("step", "stop")


class Transport(QObject):
    """Owns the actions; each is enabled exactly when it can work.

    Attributes:
        breaks: the kinds of findings at which a run holds.
    """

    def __init__(
        self,
        control: RunControl,
        workspace: Workspace,
        window: QMainWindow,
        breaks: BreakMenu,
    ) -> None:
        super().__init__(window)
        self.breaks = breaks
        self._control, self._workspace, self._window = control, workspace, window
        self.actions: dict[str, QAction] = {}
        self.buttons: dict[Move, QToolButton] = {}
        moves: dict[Move, Callable[[], object]] = {
            "load": control.load,
            "step": control.step,
            "step_10": lambda: control.step(10),
            "run": control.run,
            "pause": control.pause,
            "run_to": self.ask_run_to,
            "run_to_finding": lambda: control.run(to_finding=True),
            "stop": control.stop,
            "restart": control.restart,
        }
        for entry in ENTRIES:
            tip = f"{entry.tip} ({entry.keys})"
            self._add_action(entry.move, entry.text, [entry.keys], tip, moves[entry.move])
            self.actions[entry.move].setIconText(entry.short)
        self._add_cursor_actions()
        self.frame_words = QLabel()
        self.frame_words.setObjectName("frame_words")
        self.frame_words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        width = self.frame_words.fontMetrics().horizontalAdvance("frame 0000 / 0000")
        self.frame_words.setMinimumWidth(width)
        self._run_to: QInputDialog | None = None
        control.possible_changed.connect(self.update_actions)
        breaks.kinds_changed.connect(self.update_actions)
        workspace.recording_opened.connect(self.update_frame)
        workspace.recording_opened.connect(self.update_actions)
        workspace.frames_added.connect(self.update_frame)
        workspace.cursor_moved.connect(self.update_frame)
        workspace.following_changed.connect(self.update_frame)
        self.update_actions()
        self.update_frame()

    def fill_menu(self, menu: QMenu) -> None:
        for entry in ENTRIES:
            if entry.move in BREAKS_BEFORE:
                menu.addSeparator()
            menu.addAction(self.actions[entry.move])
            if entry.move == "run_to_finding":
                menu.addMenu(self.breaks)
        menu.addSeparator()
        for name in ("first", "back", "forward", "last", "follow"):
            menu.addAction(self.actions[name])

    def make_toolbar(self) -> QToolBar:
        bar = QToolBar("Transport", self._window)
        bar.setObjectName("transport")
        bar.setMovable(False)
        bar.setIconSize(QSize(18, 18))
        for entry in ENTRIES:
            if entry.move in BREAKS_BEFORE:
                bar.addSeparator()
            bar.addAction(self.actions[entry.move])
            button = self.buttons[entry.move] = cast(
                "QToolButton", bar.widgetForAction(self.actions[entry.move])
            )
            if entry.move in WITH_WORDS:
                button.setToolButtonStyle(BESIDE)
        self.buttons["run_to_finding"].setMenu(self.breaks)
        self.buttons["run_to_finding"].setPopupMode(POPUP)
        self.update_actions()
        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addWidget(space)
        for name in ("first", "back"):
            bar.addAction(self.actions[name])
        bar.addWidget(self.frame_words)
        for name in ("forward", "last", "follow"):
            bar.addAction(self.actions[name])
        return bar

    def show_palette(self, palette: Palette) -> None:
        for entry in ENTRIES:
            self.actions[entry.move].setIcon(icon(entry.icon, palette))
        for name in CURSOR_ICONS:
            self.actions[name].setIcon(icon(name, palette))
        self._keep_places()

    def update_actions(self) -> None:
        for entry in ENTRIES:
            self.actions[entry.move].setEnabled(entry.move in self._control.possible)
        self._say_what_begins()
        if self._run_to is not None and "run_to" not in self._control.possible:
            self._run_to.reject()  # the run that was asked about is over

    def update_frame(self) -> None:
        """Shows where the frame cursor is."""
        recording, frame = self._workspace.recording, self._workspace.cursor.frame
        last = len(recording.frames) - 1 if recording is not None else -1
        shown = frame is not None and last >= 0
        self.frame_words.setText(f"frame {frame} / {last}" if shown else "no frame")
        self.frame_words.setEnabled(shown)
        for name, wanted in (
            ("first", shown and frame != 0),
            ("back", shown and frame != 0),
            ("forward", shown and frame != last),
            ("last", shown and frame != last),
            ("follow", recording is not None),
        ):
            self.actions[name].setEnabled(bool(wanted))
        self.actions["follow"].setChecked(self._workspace.following)

    def ask_run_to(self) -> QInputDialog:
        """Asks for the frame to run to; the answer arrives later, the window goes on."""
        first = self._control.next_frame or 0
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle("Run to Frame")
        dialog.setLabelText(f"Run until this frame is complete, {first} or a later one:")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(first, LAST_FRAME)
        dialog.setIntValue(first + 10)
        dialog.setOkButtonText("Run")
        dialog.intValueSelected.connect(self._control.run)
        dialog.finished.connect(self._on_run_to_finished)
        self._run_to = dialog
        dialog.open()
        return dialog

    # ---- private ------------------------------------------------------------------------------

    def _say_what_begins(self) -> None:
        """A press that would leave the open recording for a new run says so before."""
        anew = self._control.begins_anew
        for entry in ENTRIES:
            if entry.move in MOVING:
                action = self.actions[entry.move]
                action.setIconText(_words(entry, anew=anew))
                action.setToolTip(f"{ANEW if anew else ''}{entry.tip} ({entry.keys})")
        self._say_breaks()

    def _say_breaks(self) -> None:
        """Whoever has a run hold at findings sees it on the button that has their list."""
        kinds, action = self.breaks.kinds, self.actions["run_to_finding"]
        if "run_to_finding" in self.buttons:
            style = BESIDE if kinds else Qt.ToolButtonStyle.ToolButtonIconOnly
            self.buttons["run_to_finding"].setToolButtonStyle(style)
        if kinds:
            is_any = self.breaks.every.isChecked()
            words = "Break on any" if is_any else counted(len(kinds), "break")
            action.setIconText(f" {words}")  # the picture comes close
            held_at = "any finding" if is_any else ", ".join(kinds)
            action.setToolTip(f"{action.toolTip()}\n{fill(f'Every run holds at: {held_at}', 80)}")

    def _keep_places(self) -> None:
        """A button is as wide as its longest words, so that nothing beside it ever moves."""
        for entry in ENTRIES:
            if entry.move in WITH_WORDS and entry.move in self.buttons:
                button, action = self.buttons[entry.move], self.actions[entry.move]
                shown, widths = action.iconText(), []
                button.ensurePolished()
                for anew in (False, entry.move in MOVING):
                    action.setIconText(_words(entry, anew=anew))
                    widths.append(button.sizeHint().width())
                action.setIconText(shown)
                button.setMinimumWidth(max(widths))

    def _add_cursor_actions(self) -> None:
        move, step = self._workspace.move, self._workspace.step_cursor
        add = self._add_action
        add("first", "&First Frame", ["Alt+Home"], "First frame (Home)", lambda: move(frame=0))
        add("back", "Frame &Back", ["Alt+Left"], "One frame back (Left)", lambda: step(-1))
        add("forward", "Frame For&ward", ["Alt+Right"], "One frame on (Right)", lambda: step(1))
        add(
            "last", "L&ast Frame", ["Alt+End"], "Newest frame (End)", lambda: move(frame=LAST_FRAME)
        )
        for name, glyph in (("first", "⏮"), ("back", "◀"), ("forward", "▶"), ("last", "⏭")):
            self.actions[name].setIconText(glyph)
        follow = QAction("Follo&w the Run", self._window, checkable=True)
        follow.setIconText("Follow")
        follow.setToolTip("Go along with the newest frame")
        follow.triggered.connect(self._on_follow_triggered)
        self.actions["follow"] = follow

    def _add_action(
        self, name: str, text: str, keys: list[str], tip: str, pressed: Callable[[], object]
    ) -> None:
        action = QAction(text, self._window)
        action.setShortcuts([QKeySequence(each) for each in keys])
        # Floated docks are windows of their own; the keys work there too.
        action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
        action.setToolTip(tip)
        action.setStatusTip("")
        action.triggered.connect(lambda: pressed())
        self._window.addAction(action)
        self.actions[name] = action

    def _on_run_to_finished(self) -> None:
        if self._run_to is not None:
            self._run_to.deleteLater()
            self._run_to = None

    def _on_follow_triggered(self, wanted: bool) -> None:
        if wanted:
            self._workspace.move(frame=LAST_FRAME, following=True)
        else:
            self._workspace.move(frame=self._workspace.cursor.frame, following=False)
        self.update_frame()


def _words(entry: _Entry, *, anew: bool) -> str:
    return f"New run: {entry.short.lower()}" if anew else entry.short
