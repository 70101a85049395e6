"""Ops: the aten ops of a frame, of the run or of one slot, with their source lines."""

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QTableView, QVBoxLayout, QWidget

from kvstudio.app.cache_words import cache_label
from kvstudio.app.kept_share import KeptShare
from kvstudio.app.op_bar import OpBar
from kvstudio.app.op_details import OpDetails
from kvstudio.app.op_model import OpModel
from kvstudio.app.op_query import NOTHING, OpQuery
from kvstudio.app.op_words import COLUMN, OP_COLUMNS
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.stage import NO_RECORDING, Stage
from kvstudio.app.table import Table
from kvstudio.app.workspace import Workspace
from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording

ROOM_FOR_SUMS = 240
"""Height from which on there is room for more than the table while no op is selected."""


class OpsPanel(Panel):
    """A bar, a table of ops, and below it the selected op in full."""

    title = "Ops"
    key = "ops"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.bar = OpBar()
        self.model = OpModel(self)
        self.table = Table(
            "ops", self.model, [c.chars for c in OP_COLUMNS], [COLUMN["module"], COLUMN["source"]]
        )
        self.table.setMinimumHeight(self.table.height_for(1))
        self.stage = Stage(self.table)
        self.details = OpDetails()
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self._text = ""
        self._query: OpQuery | None = None
        self._taking_in = QTimer(self, singleShot=True, interval=0)
        self._arrange()
        self._taking_in.timeout.connect(self._go_on)
        self.bar.scope_chosen.connect(self._on_bar_scope_chosen)
        self.bar.filter.settled.connect(self._on_filter_settled)
        self.bar.filter.list_wanted.connect(self._on_filter_list_wanted)
        self.bar.filter.focus_by_find(self)
        self.table.row_chosen.connect(self._on_table_row_chosen)
        self.table.rows_copied.connect(self._on_table_rows_copied)

    def refresh(self, changed: Changed) -> None:
        recording = self.workspace.recording
        self.bar.setEnabled(recording is not None)
        if changed & Changed.STYLE:
            self.model.restyle()
            self.details.restyle()
        if recording is None:
            self._show_nothing()
            return
        if changed & (Changed.RECORDING | Changed.CACHE | Changed.SLOT):
            self._name_slot(recording)
        if self._must_list(changed):
            self._list()
        elif changed & Changed.FRAMES:
            self._go_on()
        if self.bar.scope == "slot":
            self.model.mute_after(self.workspace.cursor.frame)
        self._show_cursor(changed)

    # ---- which ops ----------------------------------------------------------------------------

    def _must_list(self, changed: Changed) -> bool:
        on = {
            "frame": Changed.RECORDING | Changed.FRAME,
            "all": Changed.RECORDING,
            "slot": Changed.RECORDING | Changed.CACHE | Changed.SLOT,
        }
        return bool(changed & on[self.bar.scope])

    def _list(self) -> None:
        """Shows the ops that are wanted now, as far as they can be told at once."""
        recording = self.workspace.recording
        if recording is None:
            return
        scope, cursor = self.bar.scope, self.workspace.cursor
        top = self.table.verticalScrollBar().value() if scope == "frame" else 0
        self._query = OpQuery(recording, scope, cursor, self._text)
        self.model.show(recording, NOTHING, cursor.frame if scope == "slot" else None)
        self.table.setColumnHidden(COLUMN["frame"], scope == "frame")
        self._go_on()
        self.table.verticalScrollBar().setValue(top)
        self.table.select(self.model.row_of(cursor.op))

    def _go_on(self) -> None:
        """Adds to the list what has become known."""
        self._taking_in.stop()
        recording = self.workspace.recording
        if recording is None or self._query is None:
            return
        try:
            self.model.append(self._query.more())
            self._show_count(recording, self._query)
        except RecordingError as error:
            self._query = None
            self.bar.count.clear()
            self.stage.say(f"The ops cannot be read: {error.what}.")
            return
        if self._query.waiting:
            self._taking_in.start()

    # ---- words --------------------------------------------------------------------------------

    def _show_count(self, recording: Recording, query: OpQuery) -> None:
        """How many ops are shown, or why none are."""
        shown = len(self.model.ids)
        of = f" of {query.total:,}" if self._text else ""
        self.bar.count.setText(f"{shown:,}{of} ops")
        if shown:
            self.stage.present()
        elif query.waiting:
            known, all_ops = len(recording.ops), recording.ops.count()
            self.stage.say(f"Reading ops: {known:,} of {all_ops:,} …")
        else:
            self.stage.say(self._why_empty(recording))
        self._show_details()

    def _show_details(self) -> None:
        """The selected op's always; in a low panel the table needs what the frame's would take."""
        roomy = self.height() >= ROOM_FOR_SUMS and bool(len(self.model.ids))
        self.details.setVisible(roomy or self.workspace.cursor.op is not None)

    def _why_empty(self, recording: Recording) -> str:
        cursor = self.workspace.cursor
        if self._text:
            where = {"frame": " of this frame", "slot": " on this slot", "all": ""}
            return f"No op{where[self.bar.scope]} matches “{self._text}”."
        if cursor.frame is None:
            return "The run has no frame yet. Step once to record the first."
        if recording.spec.trace != "full" and self.bar.scope != "slot":
            what = "This frame" if self.bar.scope == "frame" else "This run"
            return f"{what} was recorded with trace {recording.spec.trace}: no ops."
        if self.bar.scope == "slot":
            slot = self._slot_words(recording)
            return f"No recorded op touches {slot}." if slot else "Select a slot in the cache map."
        return "No op was recorded in this frame."

    def _slot_words(self, recording: Recording) -> str | None:
        cursor = self.workspace.cursor
        if cursor.slot is None or cursor.cache is None or cursor.cache >= len(recording.caches):
            return None
        return f"slot {cursor.slot} of {cache_label(recording.caches[cursor.cache])}"

    def _name_slot(self, recording: Recording) -> None:
        self.bar.name_slot(self._slot_words(recording))

    def _show_nothing(self) -> None:
        self._taking_in.stop()
        self._query = None
        self.model.show(None, NOTHING)
        self.bar.count.clear()
        self.bar.name_slot(None)
        self.details.hide()
        self.stage.say(NO_RECORDING)

    # ---- the op under the cursor --------------------------------------------------------------

    def _show_cursor(self, changed: Changed) -> None:
        recording, cursor = self.workspace.recording, self.workspace.cursor
        assert recording is not None, "there is a cursor only in a recording"
        self._show_details()
        if cursor.op is None:
            self._show_frame_details(recording)
            if self.bar.scope == "all" and changed & (Changed.FRAME | Changed.RECORDING):
                self._scroll_to_frame(recording)
            return
        self.details.show_op(recording, cursor.op)
        row = self.model.row_of(cursor.op)
        if row != self._current_row():
            self.table.select(row)

    def _show_frame_details(self, recording: Recording) -> None:
        frame = self.workspace.cursor.frame
        if self.bar.scope == "frame" and frame is not None and len(self.model.ids):
            self.details.show_frame(recording, frame)
        else:
            self.details.clear()

    def _scroll_to_frame(self, recording: Recording) -> None:
        frame = self.workspace.cursor.frame
        ids = NOTHING if frame is None else recording.ops.of_frame(frame)
        row = int(np.searchsorted(self.model.ids, ids[0])) if len(ids) else len(self.model.ids)
        if row < len(self.model.ids):
            top = QTableView.ScrollHint.PositionAtTop
            self.table.scrollTo(self.model.index(row, 0), top)

    def _current_row(self) -> int | None:
        current = self.table.currentIndex()
        return current.row() if current.isValid() else None

    # ---- events -------------------------------------------------------------------------------

    def _on_bar_scope_chosen(self) -> None:
        self.table.verticalScrollBar().setValue(0)
        self._list()
        if self.workspace.recording is not None:
            self._show_cursor(Changed.FRAME)

    def _on_filter_settled(self, text: str) -> None:
        self._text = text
        self._list()

    def _on_filter_list_wanted(self) -> None:
        if len(self.model.ids):
            self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)
            if self._current_row() is None:
                self.table.setCurrentIndex(self.model.index(0, COLUMN["op"]))

    def _on_table_row_chosen(self, row: int) -> None:
        frame = self.model.row(row).frame
        if frame >= 0:
            moved = None if frame == self.workspace.cursor.frame else frame
            self.workspace.move(frame=moved, op=self.model.op_at(row))

    def _on_table_rows_copied(self, copied: int, selected: int) -> None:
        if copied < selected:
            self.bar.count.setText(f"copied the first {copied:,} of {selected:,} rows")

    def _arrange(self) -> None:
        self.splitter.addWidget(self.stage)
        self.splitter.addWidget(self.details)
        self.splitter.setChildrenCollapsible(False)
        KeptShare(self.splitter, "ops", 0.55).divide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.splitter, 1)

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.workspace.recording is not None:
            self._show_details()
