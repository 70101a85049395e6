"""Findings: the verdict on the run, what is wrong with it, and each finding's way to the sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from kvstudio.app.cache_words import cache_labels
from kvstudio.app.findings.chain_view import ChainView
from kvstudio.app.findings.columns import finding_columns
from kvstudio.app.findings.empty_page import EmptyPage
from kvstudio.app.findings.jump import jump, origin
from kvstudio.app.findings.verdict_line import VerdictLine
from kvstudio.app.findings.words import WITHHELD, empty_words, verdict_words
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.row_model import RowModel
from kvstudio.app.settings import Settings
from kvstudio.app.table import Table

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from kvstudio.analysis.finding import Finding
    from kvstudio.app.workspace import Workspace

WIDE = 640
ROOM_FOR_COUNT = 430
MOST_LISTED = 6
MOST_OF_IT = 0.4
"""Rows of the list in view, and its share, as long as the user has not said otherwise."""
SHOWN = Changed.RECORDING | Changed.FINDINGS | Changed.STYLE


class FindingsPanel(Panel):
    """Up and Down choose a finding, Enter goes to its origin; links go to each step of its chain.

    Signals:
        cases_requested: the user wants to see the guided cases.
        answer_requested: the user wants to see what is withheld.
    """

    title = "Findings"
    key = "findings"

    cases_requested = Signal()
    answer_requested = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self._labels: dict[int, str] = {}
        self.withholds = False
        self.verdict = VerdictLine()
        self.model: RowModel[Finding] = RowModel(finding_columns(lambda: self._labels), self)
        self.table = Table("findings", self.model, [c.chars for c in self.model.columns])
        self.chain = ChainView()
        self.empty = EmptyPage()
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self._arrange()
        self._make_actions()
        self.table.row_chosen.connect(self._on_table_row_chosen)
        self.table.clicked.connect(self.go_to_origin)
        self.chain.link_chosen.connect(self._on_chain_link_chosen)
        self.empty.cases_requested.connect(self.cases_requested)
        self.empty.answer_requested.connect(self.answer_requested)
        self.splitter.splitterMoved.connect(self._on_splitter_moved)

    def refresh(self, changed: Changed) -> None:
        watch, recording = self.workspace.findings, self.workspace.recording
        if not changed & SHOWN:
            return
        if recording is not None and len(self._labels) != len(recording.caches):
            self._labels = cache_labels(recording.caches)
        if changed & Changed.STYLE:
            self.chain.restyle()
        self.verdict.say(verdict_words(watch))
        count = len(self.model.rows)
        self.model.show(() if self.withholds else watch.findings)
        is_empty = not self.model.rows
        self.splitter.setHidden(is_empty)
        self.empty.setVisible(is_empty)
        if len(self.model.rows) != count:
            self._divide()
        if watch.findings:
            self.empty.say(WITHHELD, offers_answer=True)
        else:
            self.empty.say(empty_words(watch), offers_cases=recording is None)
        chosen = watch.chosen
        self.table.select(self.model.rows.index(chosen) if chosen in self.model.rows else None)
        self.chain.show_finding(chosen, self._labels)

    def withhold(self, wanted: bool) -> None:
        """Whether what was found is not told before the user asks for it; how much is."""
        self.withholds = wanted
        self.mark(Changed.FINDINGS)

    def go_to_origin(self) -> None:
        """Moves the cursor to where the chosen finding begins."""
        chosen = self.workspace.findings.chosen
        if chosen is not None:
            jump(self.workspace, origin(chosen))
            self.chain.mark(None)

    def go_to(self, step: int) -> None:
        """Chooses the next finding (1) or the one before (-1), and goes there."""
        found = self.workspace.findings.beside(step)
        if found is not None:
            self.workspace.findings.choose(found)
            self.go_to_origin()

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        self.splitter.addWidget(self.table)
        self.splitter.addWidget(self.chain)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setMinimumHeight(self._height_for(1))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.verdict)
        column.addWidget(self.splitter, 1)
        column.addWidget(self.empty, 1)
        self.splitter.hide()
        self.setFocusProxy(self.table)

    def _make_actions(self) -> None:
        go = QAction("&Go to its origin", self.table)
        go.setShortcuts([QKeySequence("Return"), QKeySequence("Enter")])
        go.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        go.triggered.connect(self.go_to_origin)
        self.table.insertAction(self.table.actions()[0], go)

    def _height_for(self, rows: int) -> int:
        bar = self.table.horizontalScrollBar().sizeHint().height()
        return self.table.height_for(rows) - bar

    def _divide(self) -> None:
        """The list gets what its rows need, or what the user gave it."""
        if self.splitter.orientation() == Qt.Orientation.Horizontal:
            self.splitter.setSizes([self.width() // 2, self.width() // 2])
            return
        kept = Settings().remembered(self.key).get("list")
        rows = min(len(self.model.rows), MOST_LISTED)
        fair = max(self._height_for(1), round(self.splitter.height() * MOST_OF_IT))
        listed = kept if type(kept) is int else min(self._height_for(rows), fair)
        self.splitter.setSizes([listed, max(1, self.splitter.height() - listed)])

    def _on_splitter_moved(self) -> None:
        if self.splitter.orientation() == Qt.Orientation.Vertical:
            Settings().remember(self.key, {"list": self.splitter.sizes()[0]})

    def _on_table_row_chosen(self, row: int) -> None:
        self.workspace.findings.choose(self.model.rows[row])

    def _on_chain_link_chosen(self, number: int) -> None:
        chosen = self.workspace.findings.chosen
        if chosen is not None and number < len(chosen.chain):
            if jump(self.workspace, chosen.chain[number]):
                self.chain.mark(number)

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # How often stands in the tool tip, too; where it is narrow the rest needs the room.
        self.table.setColumnHidden(len(self.model.columns) - 1, self.width() < ROOM_FOR_COUNT)
        across = self.width() >= WIDE
        self.splitter.setOrientation(
            Qt.Orientation.Horizontal if across else Qt.Orientation.Vertical
        )
        self._divide()
