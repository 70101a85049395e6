"""The main window: builds the panels and their docks, and connects what belongs together."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QTabWidget, QToolBar

from kvstudio.app import layout
from kvstudio.app.announcer import Announcer
from kvstudio.app.banner import Banner
from kvstudio.app.dropping import dropped_file
from kvstudio.app.engine_client import Engine
from kvstudio.app.file_menu import Exporter, FileMenu
from kvstudio.app.findings.actions import FindingActions
from kvstudio.app.findings.break_menu import BreakMenu
from kvstudio.app.findings.notice import FindingNotice
from kvstudio.app.forking import Forking
from kvstudio.app.frame_keys import FrameKeys
from kvstudio.app.help_menu import HelpMenu
from kvstudio.app.painting.icons import application_icon
from kvstudio.app.panels.cases import CasesPanel
from kvstudio.app.panels.findings import FindingsPanel
from kvstudio.app.panels.layer import LayerPanel
from kvstudio.app.panels.log import LogPanel
from kvstudio.app.panels.setup import SetupPanel
from kvstudio.app.panels_list import PANELS
from kvstudio.app.recordings_folder import RecordingsFolder
from kvstudio.app.run_control import RunControl
from kvstudio.app.settings import Settings
from kvstudio.app.setup.form import SetupForm
from kvstudio.app.shell_style import shell_sheet
from kvstudio.app.status_line import StatusLine
from kvstudio.app.theme import Palette, current_palette, theme_of
from kvstudio.app.transport import Transport
from kvstudio.app.view_menu import fill_view_menu
from kvstudio.app.workspace import Workspace
from kvstudio.recording.errors import SpecError

if TYPE_CHECKING:
    from kvstudio.app.panel import Panel

FIRST_SIZE = (1280, 800)
CLEANING_DELAY_MS = 3000


class MainWindow(QMainWindow):
    """The whole window around one workspace and one engine.

    Attributes:
        panels, docks: by the panels' keys.
    """

    def __init__(
        self, engine: Engine, settings: Settings, folder: RecordingsFolder | None = None
    ) -> None:
        super().__init__()
        self.engine, self.settings = engine, settings
        self.folder = folder or RecordingsFolder()
        self.workspace = Workspace(self)
        self._laid_out = False
        self.setWindowTitle("KVStudio")
        self.setAcceptDrops(True)
        self._make_panels()
        self.control = RunControl(engine, self.workspace, self.setup, self.folder.new_path, self)
        self.breaks = BreakMenu(settings, self)
        self.transport = Transport(self.control, self.workspace, self, self.breaks)
        actions = self.transport.actions
        self.frame_keys = FrameKeys(self, actions["back"], actions["forward"])
        self._make_banner()
        self._make_menus()
        self.status = StatusLine(self.statusBar(), self.control, self.workspace)
        self._connect()
        self._dress(current_palette())
        self.resize(*FIRST_SIZE)
        self.restoreGeometry(settings.geometry)

    @property
    def setup(self) -> SetupPanel:
        return cast("SetupPanel", self.panels[SetupPanel.key])

    @property
    def findings(self) -> FindingsPanel:
        return cast("FindingsPanel", self.panels[FindingsPanel.key])

    @property
    def cases(self) -> CasesPanel:
        return cast("CasesPanel", self.panels[CasesPanel.key])

    @property
    def log(self) -> LogPanel:
        return cast("LogPanel", self.panels[LogPanel.key])

    def begin_demo(self) -> None:
        """Starts a run of the embedded demo model as soon as the engine can; offers the cases."""
        self.setup.show_form(SetupForm())
        self.control.start()
        self._show_dock("cases")

    def open_recording(self, path: Path) -> bool:
        return self.file_menu.open_recording(path)

    def reset_layout(self) -> None:
        layout.arrange(self, self.docks)
        layout.resize(self, self.docks)

    # ---- private ------------------------------------------------------------------------------

    def _make_panels(self) -> None:
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.panels: dict[str, Panel] = {}
        self.docks: dict[str, QDockWidget] = {}
        for kind in PANELS:
            panel = (
                SetupPanel(self.workspace, settings=self.settings)
                if kind is SetupPanel
                else kind(self.workspace)
            )
            dock = QDockWidget(kind.title, self)
            dock.setObjectName(f"dock_{kind.key}")
            dock.setWidget(panel)
            dock.installEventFilter(self)
            self.panels[kind.key], self.docks[kind.key] = panel, dock
        layout.arrange(self, self.docks)

    def _make_banner(self) -> None:
        self.addToolBar(self.transport.make_toolbar())
        self.addToolBarBreak()
        self.banner = Banner()
        self.banner_bar = QToolBar("Messages", self)
        self.banner_bar.setObjectName("banner_bar")
        self.banner_bar.setMovable(False)
        self.banner_bar.setContentsMargins(0, 0, 0, 0)
        self.banner_bar.addWidget(self.banner)
        self.banner_bar.toggleViewAction().setVisible(False)
        self.banner_bar.hide()
        self.banner.emptied_or_filled.connect(self.banner_bar.setVisible)
        self.addToolBar(self.banner_bar)
        self.notice = FindingNotice(
            self.workspace, self.findings, self.docks["findings"], self.banner
        )
        self.forking = Forking(self.workspace, self.control, self.setup, self.banner)
        self.announcer = Announcer(self.banner, self.engine, self.workspace, self.control.restart)

    def _make_menus(self) -> None:
        export = self._ask_export if "audio" in self.panels else None
        self.file_menu = FileMenu(self, self.workspace, self.settings, self.banner, export)
        bar = self.menuBar()
        self.file_menu.fill_menu(bar.addMenu("&File"))
        run_menu = bar.addMenu("&Run")
        self.transport.fill_menu(run_menu)
        run_menu.addSeparator()
        self.finding_actions = FindingActions(self, self.workspace, self.findings.go_to)
        self.finding_actions.fill_menu(run_menu)
        run_menu.addSeparator()
        words = "&Use the Recording's Settings"
        self.use_settings = run_menu.addAction(words, self._use_recorded_settings)
        self.use_settings.setEnabled(False)
        fill_view_menu(bar.addMenu("&View"), self.docks.values(), self.reset_layout, self.settings)
        self.help_menu = HelpMenu(self, self.actions(), lambda: self._show_dock("cases"))
        self.help_menu.fill_menu(bar.addMenu("&Help"))

    def _connect(self) -> None:
        engine, setup, control = self.engine, self.setup, self.control
        for listener in (setup, self.log, self.status, self.help_menu, self.notice):
            engine.event_received.connect(listener.take_event)
        engine.state_changed.connect(setup.show_state)
        engine.state_changed.connect(self.status.show_state)
        setup.load_requested.connect(control.load)
        setup.start_requested.connect(control.start)
        setup.cancel_requested.connect(control.stop)
        setup.budget_requested.connect(control.ask_budget)
        setup.form_changed.connect(control.update_possible)
        setup.form_changed.connect(self._on_control_possible_changed)
        control.possible_changed.connect(self._on_control_possible_changed)
        self._connect_cases()
        cast("LayerPanel", self.panels[LayerPanel.key]).poke.poke_requested.connect(
            self.forking.run_again
        )
        self.breaks.kinds_changed.connect(control.break_on)
        control.break_on(self.breaks.kinds)
        control.trouble_met.connect(self.announcer.say)
        control.run_started.connect(lambda path: self.settings.add_recent("recordings", path))
        self.workspace.recording_opened.connect(self._on_workspace_recording_opened)
        theme = theme_of(cast("QApplication", QApplication.instance()))
        if theme is not None:
            theme.palette_changed.connect(self._dress)
        control.update_possible()

    def _connect_cases(self) -> None:
        cases, run = self.cases, self.control.run_whole
        self.engine.event_received.connect(cases.runs.take_event)
        self.engine.state_changed.connect(cases.runs.take_state)
        cases.runs.run_requested.connect(lambda spec, shown: run(spec, shown=shown))
        cases.panel_requested.connect(self._show_dock)
        cases.secret.kept_changed.connect(self.findings.withhold)
        self.findings.answer_requested.connect(cases.secret.tell_open)
        self.findings.cases_requested.connect(lambda: self._show_dock("cases"))

    def _show_dock(self, key: str) -> None:
        self.docks[key].show()
        self.docks[key].raise_()

    def _dress(self, palette: Palette) -> None:
        self.setStyleSheet(shell_sheet(palette))
        self.setWindowIcon(application_icon(palette))
        self.transport.show_palette(palette)

    def _use_recorded_settings(self) -> None:
        recording = self.workspace.recording
        if recording is not None:
            try:
                self.setup.show_form(SetupForm.of_spec(recording.spec))
            except SpecError as error:
                self.announcer.say(f"this recording's settings cannot be used: {error}")

    def _lay_out(self) -> None:
        if not self.restoreState(self.settings.layout(self.docks)):
            layout.resize(self, self.docks)

    def _ask_export(self) -> None:
        self._show_dock("audio")
        cast("Exporter", self.panels["audio"]).ask_export()

    def _clean_folder(self) -> None:
        recording = self.workspace.recording
        spared = {self.control.live_path, recording.path if recording is not None else None}
        self.folder.clean(spared={path for path in spared if path is not None})

    def _on_control_possible_changed(self) -> None:
        self.setup.show_possible(frozenset(self.control.possible))

    def _on_workspace_recording_opened(self) -> None:
        recording = self.workspace.recording
        self.use_settings.setEnabled(recording is not None)
        self.setWindowTitle(f"{recording.path.name} - KVStudio" if recording else "KVStudio")

    # ---- Qt overrides -------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._laid_out:
            self._laid_out = True
            layout.Settling(self, self._lay_out)
            self.banner_bar.setVisible(bool(self.banner.messages))
            QTimer.singleShot(CLEANING_DELAY_MS, self, self._clean_folder)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.settings.geometry = self.saveGeometry()
        self.settings.keep_layout(self.docks, self.saveState())
        self.settings.sync()
        self.file_menu.wait()
        self.workspace.findings.close()
        self.engine.shut_down()
        for dock in self.docks.values():
            dock.setFloating(False)
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Plain keys that the focused widget had no use for."""
        names = {
            Qt.Key.Key_Left: "back",
            Qt.Key.Key_Right: "forward",
            Qt.Key.Key_Home: "first",
            Qt.Key.Key_End: "last",
        }
        name = names.get(Qt.Key(event.key()))
        if name is not None and event.modifiers() in _NO_MODIFIERS:
            self.transport.actions[name].trigger()
        elif event.key() == Qt.Key.Key_Escape and self.banner.dismiss_newest():
            event.accept()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A floated dock is a window of its own: the plain keys work there too."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if isinstance(watched, QDockWidget) and watched.isFloating():
                self.keyPressEvent(event)
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        dropped = dropped_file(event.mimeData())
        if dropped is None:
            return
        event.acceptProposedAction()
        if dropped[0] == "recording":
            self.open_recording(dropped[1])
        else:
            self.setup.take_file(*dropped)


_NO_MODIFIERS = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
