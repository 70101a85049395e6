"""The history of one slot as a list; choosing a row goes to its frame and op."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from kvstudio.app.fitting_label import FittingLabel
from kvstudio.app.layer.slot_events import SlotEvent, slot_events
from kvstudio.app.op_words import short_file
from kvstudio.app.row_model import Column, RowModel
from kvstudio.app.table import Table
from kvstudio.app.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.app.cache_moment import CacheMoment
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Op

MOST_OPS_KEPT = 4096


class SlotHistory(QWidget):
    """Every write and read of a slot up to a frame.

    Signals:
        event_chosen: frame, and the op or None.
    """

    event_chosen = Signal(int, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._recording: Recording | None = None
        self._op = lru_cache(MOST_OPS_KEPT)(self._read_op)
        self.heading = FittingLabel("muted")
        self.heading.setContentsMargins(4, 0, 0, 0)
        self.rows: RowModel[SlotEvent] = RowModel(self._columns(), self)
        self.table = Table(
            "slot_history", self.rows, [column.chars for column in self.rows.columns]
        )
        self.table.setAccessibleName("History of the selected slot")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.heading)
        column.addWidget(self.table, 1)
        self.table.row_chosen.connect(self._on_table_row_chosen)

    def show_slot(
        self, recording: Recording, moment: CacheMoment, slot: int, frame: int, label: str
    ) -> None:
        """Reads the history of a slot up to a frame."""
        if recording is not self._recording:
            self._recording = recording
            self._op.cache_clear()
        events = slot_events(recording, moment, slot, frame)
        writes = sum(event.is_write for event in events)
        reads = len(events) - writes
        counts = f"{counted(writes, 'write')}, {counted(reads, 'read')}"
        self.heading.say((f"{label}, slot {slot}: {counts} up to frame {frame}", counts))
        self.rows.show(events)

    def mark(self, op: int | None) -> None:
        """Makes the row of the cursor's op current, if there is one."""
        found = [n for n, event in enumerate(self.rows.rows) if op is not None and event.op == op]
        self.table.select(found[0] if found else None)

    def clear(self, sentence: str) -> None:
        self.heading.say(sentence)
        self.rows.show([])

    # ---- private ------------------------------------------------------------------------------

    def _columns(self) -> Sequence[Column[SlotEvent]]:
        return (
            Column("frame", 6, lambda e: str(e.frame), lambda e: e.frame, self._step_words),
            Column("what", 11, lambda e: e.words, bold=lambda e: e.is_write),
            Column("source", 17, self._site_words, tip=self._site_tip),
            Column("op", 10, self._op_words, tip=self._name_of),
        )

    def _read_op(self, op: int) -> Op:
        assert self._recording is not None
        return self._recording.ops.get(op)

    def _step_words(self, event: SlotEvent) -> str:
        assert self._recording is not None
        return self._recording.frames[event.frame].title

    def _name_of(self, event: SlotEvent) -> str:
        if event.op is not None:
            return self._op(event.op).name
        return "filled before the run" if event.frame == 0 else "no op recorded"

    def _op_words(self, event: SlotEvent) -> str:
        return self._name_of(event).removeprefix("aten.").removesuffix(".default").lstrip("_")

    def _site_words(self, event: SlotEvent) -> str:
        if event.op is None:
            return ""
        file, line, _ = self._op(event.op).site
        return f"{short_file(file).rsplit('/', 1)[-1]}:{line}"

    def _site_tip(self, event: SlotEvent) -> str:
        if event.op is None:
            return ""
        file, line, function = self._op(event.op).site
        return f"{file}:{line} in {function}"

    def _on_table_row_chosen(self, row: int) -> None:
        event = self.rows.rows[row]
        self.event_chosen.emit(event.frame, event.op)
