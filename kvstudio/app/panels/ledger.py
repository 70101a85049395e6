"""Length ledger and integrity: what the caches were sized for, and whether they grew cleanly."""

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QLabel, QSplitter, QTableView, QVBoxLayout, QWidget

from kvstudio.analysis.integrity import CHECKS, IntegrityRow, chunk_integrity, failures
from kvstudio.analysis.ledger import LedgerRow, frames_of, has_begun, ledger_row
from kvstudio.app.cache_words import cache_labels
from kvstudio.app.ledger_card import LedgerCard
from kvstudio.app.ledger_words import (
    FAILED,
    FIRST_CHECK,
    INTEGRITY_COLUMNS,
    LEDGER_COLUMNS,
    PASSED,
    LayerChecks,
    layer_checks,
)
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.row_model import RowModel
from kvstudio.app.stage import NO_RECORDING, Stage
from kvstudio.app.table import Table
from kvstudio.app.theme import current_palette
from kvstudio.app.words import counted
from kvstudio.app.workspace import Workspace
from kvstudio.recording.errors import RecordingError
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Chunk

MOST_CHUNKS_IN_SIGHT = 4


class LedgerPanel(Panel):
    """The chunk under the cursor as a sum, all chunks as a table, and the checks of each layer."""

    title = "Length ledger"
    key = "ledger"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.summary = QLabel(wordWrap=True)
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.summary.setContentsMargins(8, 6, 8, 2)
        self.card = LedgerCard()
        self.chunks: RowModel[LedgerRow] = RowModel(LEDGER_COLUMNS, self)
        self.checks: RowModel[LayerChecks] = RowModel(INTEGRITY_COLUMNS, self)
        self.chunk_table = Table("ledger", self.chunks, [c.chars for c in LEDGER_COLUMNS])
        self.check_table = Table("integrity", self.checks, [c.chars for c in INTEGRITY_COLUMNS])
        self.stage = Stage(self._contents())
        self._rows: list[LedgerRow] = []
        self._here = -1  # the chunk under the cursor when the rows were worked out
        self._checked: dict[int, list[IntegrityRow]] = {}
        self._next_check = QTimer(self, singleShot=True, interval=0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.stage)
        self._next_check.timeout.connect(self._on_next_check_timeout)
        self.chunk_table.row_chosen.connect(self._on_chunk_table_row_chosen)
        self.check_table.clicked.connect(self._on_check_table_activated)
        self.check_table.activated.connect(self._on_check_table_activated)

    def refresh(self, changed: Changed) -> None:
        recording = self.workspace.recording
        if changed & Changed.RECORDING:
            self._rows, self._checked = [], {}
        if recording is None or not recording.chunks:
            self.chunks.show([])
            self.checks.show([])
            self.stage.say(NO_RECORDING if recording is None else "The run has no chunk yet.")
            return
        try:
            if changed & (Changed.RECORDING | Changed.FRAMES | Changed.FRAME):
                self._update_rows(recording)
            if changed & (Changed.RECORDING | Changed.FRAMES):
                self._next_check.start()
        except RecordingError as error:
            self._tell_trouble(error)
            return
        self.stage.present()
        if changed & Changed.STYLE:
            self.chunks.repaint()
            self.checks.repaint()
        self._show_summary()
        self._show_chunk(recording)

    # ---- the ledger ---------------------------------------------------------------------------

    def _update_rows(self, recording: Recording) -> None:
        """Works out the rows anew that the cursor's way from frame to frame can have changed."""
        frame = self.workspace.cursor.frame
        before, self._here = self._here, -1 if frame is None else recording.frames[frame].chunk
        crossed = range(min(before, self._here), max(before, self._here) + 1)
        rows = []
        for chunk in recording.chunks:
            known = self._rows[chunk.id] if chunk.id < len(self._rows) else None
            is_same = known is not None and known.begun and known.chunk == chunk
            if known is None or not is_same or chunk.id in crossed:
                known = ledger_row(recording, chunk, frame)
            rows.append(known)
        if len(rows) != len(self._rows):
            self._fit_chunks(len(rows))
        self._rows = rows
        self.chunks.show(rows)

    def _show_chunk(self, recording: Recording) -> None:
        frame = self.workspace.cursor.frame
        number = 0 if frame is None else recording.frames[frame].chunk
        self.card.show_row(self._rows[number])
        row = [each.chunk.id for each in self.chunks.rows].index(number)
        if self.chunk_table.selected_rows() != [range(row, row + 1)]:
            self.chunk_table.select(row)
            self._scroll_to_checks(number)

    def _scroll_to_checks(self, chunk: int) -> None:
        found = [row for row, each in enumerate(self.checks.rows) if each.chunk == chunk]
        if found:
            top = QTableView.ScrollHint.PositionAtTop
            self.check_table.scrollTo(self.checks.index(found[-1], 0))
            self.check_table.scrollTo(self.checks.index(found[0], 0), top)

    # ---- the checks ---------------------------------------------------------------------------

    def _on_next_check_timeout(self) -> None:
        """Checks one more chunk, so that many of them never hold up the window."""
        recording = self.workspace.recording
        if recording is None:
            return
        due = [chunk for chunk in recording.chunks if chunk.id not in self._checked]
        due = [chunk for chunk in due if has_begun(frames_of(recording, chunk))]
        if not due:
            return
        try:
            self._checked[due[0].id] = chunk_integrity(recording, due[0])
        except RecordingError as error:
            self._tell_trouble(error)
            return
        labels = cache_labels(recording.caches)
        found = [row for number in sorted(self._checked) for row in self._checked[number]]
        self.checks.show(layer_checks(found, labels))
        self._show_summary()
        if len(due) > 1:
            self._next_check.start()

    def _show_summary(self) -> None:
        wrong = [row for row in self._rows if not row.passed]
        checks = [row for rows in self._checked.values() for row in rows]
        failed = failures(checks)
        palette = current_palette()
        parts = []
        if wrong:
            verb = "does" if len(wrong) == 1 else "do"
            chunks = counted(len(self._rows), "chunk")
            which = "the chunk" if len(self._rows) == 1 else f"{len(wrong):,} of {chunks}"
            parts.append(f"{which} {verb} not add up")
        if failed:
            parts.append(f"{len(failed):,} of {counted(len(checks), 'check')} failed")
        if not parts:
            whole = "adds up" if len(self._rows) == 1 else "add up"
            checked = f", {counted(len(checks), 'check')} passed" if checks else ""
            parts.append(f"{counted(len(self._rows), 'chunk')} {whole}{checked}")
        mark = FAILED if wrong or failed else PASSED
        self.summary.setText(f"{mark} {', '.join(parts)}")
        self.summary.setStyleSheet(f"color: {palette.error if wrong or failed else palette.ok};")

    # ---- moving the cursor --------------------------------------------------------------------

    def _on_chunk_table_row_chosen(self, row: int) -> None:
        recording, chunk = self.workspace.recording, self.chunks.rows[row].chunk
        if recording is not None and not self._stands_in(recording, chunk):
            frames = frames_of(recording, chunk)
            if frames:
                self.workspace.move(frame=frames[0].id)

    def _on_check_table_activated(self, index: QModelIndex) -> None:
        """A failed check leads to its layer and slot, any other cell to its layer."""
        recording, checks = self.workspace.recording, self.checks.rows[index.row()]
        if recording is None:
            return
        number = index.column() - FIRST_CHECK
        check = checks.of(CHECKS[number]) if 0 <= number < len(CHECKS) else None
        slot = None if check is None else check.failed_slot
        chunk = recording.chunks[checks.chunk]
        if slot is not None:
            slot = max(0, min(slot, chunk.capacity_after - 1))  # one that is missing has no place
        self.workspace.move(frame=self._frame_with_expansion(recording, chunk), cache=checks.cache)
        self.workspace.move(slot=slot)

    def _stands_in(self, recording: Recording, chunk: Chunk) -> bool:
        frame = self.workspace.cursor.frame
        return frame is not None and recording.frames[frame].chunk == chunk.id

    def _frame_with_expansion(self, recording: Recording, chunk: Chunk) -> int | None:
        """None if the cursor stands in the chunk already, behind its expansion."""
        frame = self.workspace.frame
        if frame is not None and frame.chunk == chunk.id and frame.phase != "voice":
            return None
        grown = [each.id for each in frames_of(recording, chunk) if each.phase != "voice"]
        return grown[0] if grown else None

    # ---- private ------------------------------------------------------------------------------

    def _contents(self) -> QWidget:
        contents = QWidget()
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.addWidget(self.chunk_table)
        self.splitter.addWidget(self.check_table)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setChildrenCollapsible(False)
        for table in (self.chunk_table, self.check_table):
            table.setMinimumHeight(table.height_for(1))
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.summary)
        column.addWidget(self.card)
        column.addWidget(self.splitter, 1)
        return contents

    def _fit_chunks(self, count: int) -> None:
        """Gives the table of chunks the height it needs, within reason."""
        self.check_table.setColumnHidden(0, count == 1)
        room = self.splitter.height()
        needed = min(self.chunk_table.height_for(min(count, MOST_CHUNKS_IN_SIGHT)), room // 2)
        self.splitter.setSizes([needed, room - needed])

    def _tell_trouble(self, error: RecordingError) -> None:
        self.stage.say(f"The ledger cannot be read: {error.what}.")
