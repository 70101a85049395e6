"""Tensors: every tensor of the streaming state, FlowLM and Mimi, and whether it fits its layer."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from kvstudio.app.filter_edit import FilterEdit
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.row_model import RowModel
from kvstudio.app.stage import NO_RECORDING, Stage
from kvstudio.app.table import Table
from kvstudio.app.tensor_rows import COLUMNS, NAME, WRONG, TensorRow, passes, tensor_rows
from kvstudio.app.theme import current_palette
from kvstudio.app.words import counted
from kvstudio.app.workspace import Workspace
from kvstudio.recording.errors import RecordingError

FILTER_HELP = """<p>Shows the tensors in whose row every word occurs.</p>
<table cellpadding="2">
<tr><td><code>mimi offset</code></td><td>both words</td></tr>
<tr><td><code>-float32</code></td><td>without this word</td></tr>
<tr><td><code>changed</code></td><td>changed by this frame</td></tr>
<tr><td><code>mismatch</code></td><td>disagrees with its layer</td></tr>
</table>"""


class TensorsPanel(Panel):
    """A sentence on whether all fits, a filter, and one table of all tensors."""

    title = "Tensors"
    key = "tensors"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.summary = QLabel(wordWrap=True)
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.count = QLabel()
        self.count.setProperty("role", "muted")
        self.filter = FilterEdit("filter: words, -word, changed", FILTER_HELP)
        self.model: RowModel[TensorRow] = RowModel(COLUMNS, self)
        self.table = Table("tensors", self.model, [c.chars for c in COLUMNS], [NAME])
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicator(NAME, Qt.SortOrder.AscendingOrder)
        self.stage = Stage(self.table)
        self._arrange()
        self.filter.settled.connect(self._on_filter_settled)
        self.filter.list_wanted.connect(self.table.setFocus)
        self.filter.focus_by_find(self)
        self.table.doubleClicked.connect(self._on_table_double_clicked)
        self.table.rows_copied.connect(self._on_table_rows_copied)

    def refresh(self, changed: Changed) -> None:
        if changed & Changed.STYLE:
            self.model.repaint()
        if changed & (Changed.RECORDING | Changed.FRAME | Changed.STYLE):
            self._show_frame()
        if changed & (Changed.RECORDING | Changed.FRAME | Changed.CACHE):
            self._show_cursor()

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.filter, 1)
        row.addWidget(self.count)
        top = QVBoxLayout()
        top.setContentsMargins(6, 6, 6, 4)
        top.setSpacing(5)
        top.addWidget(self.summary)
        top.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self.stage, 1)

    def _show_frame(self) -> None:
        recording, frame = self.workspace.recording, self.workspace.cursor.frame
        self.filter.setEnabled(recording is not None)
        if recording is None or frame is None:
            self.model.show([])
            self.summary.hide()
            self.count.clear()
            no_frame = "The run has no frame yet. Step once to record the first."
            self.stage.say(NO_RECORDING if recording is None else no_frame)
            return
        try:
            rows = tensor_rows(recording, frame)
        except RecordingError as error:
            self.model.show([])
            self.summary.hide()
            self.stage.say(f"The tensors cannot be read: {error.what}.")
            return
        self.model.show(rows)
        self._show_summary(rows)
        self._show_count()

    def _show_summary(self, rows: Sequence[TensorRow]) -> None:
        wrong = [each for row in rows for each in row.wrong]
        palette = current_palette()
        if wrong:
            more = "" if len(wrong) == 1 else f" (and {len(wrong) - 1:,} more)"
            what = "mismatch" if len(wrong) == 1 else "mismatches"
            words = f"{WRONG} {len(wrong):,} {what}: {wrong[0].words}{more}"
        elif len(rows) == 1:
            words = "✓ The one tensor agrees with its layer's weights"
        else:
            words = f"✓ All {len(rows):,} tensors agree with their layers' weights"
        self.summary.setText(words)
        self.summary.setToolTip("\n".join(each.words for each in wrong))
        self.summary.setStyleSheet(f"color: {palette.warning if wrong else palette.ok};")
        self.summary.setVisible(bool(rows))

    def _show_count(self) -> None:
        shown, total = len(self.model.rows), self.model.total
        changed = sum(row.tensor.changed for row in self.model.rows)
        of = f"{shown:,} of {total:,}" if self.filter.text().strip() else f"{total:,}"
        self.count.setText(f"{of} tensors, {changed:,} changed")
        if shown:
            self.stage.present()
        elif total:
            self.stage.say(f"No tensor matches “{self.filter.text().strip()}”.")
        else:
            self.stage.say("No tensor was recorded: the model has no state at this frame.")

    def _show_cursor(self) -> None:
        """Selects the cache under the cursor, so that all views show the same."""
        cache = self.workspace.cursor.cache
        found = [n for n, row in enumerate(self.model.rows) if row.cache == cache is not None]
        selected = [row for run in self.table.selected_rows() for row in run]
        if found and found[0] not in selected:
            self.table.select(found[0])

    def _on_filter_settled(self, text: str) -> None:
        words = text.lower().split()
        self.model.keep(lambda row: passes(row.words, words))
        if self.workspace.recording is not None:
            self._show_count()

    def _on_table_double_clicked(self, index: QModelIndex) -> None:
        cache = self.model.rows[index.row()].cache
        if cache is not None:
            self.workspace.move(cache=cache)

    def _on_table_rows_copied(self, copied: int, selected: int) -> None:
        self.count.setText(f"copied {counted(copied, 'row')}")
