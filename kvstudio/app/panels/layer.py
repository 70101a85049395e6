"""Layer view: the values of K and V of one layer, slot by head and dim, exact where one points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QVBoxLayout, QWidget

from kvstudio.app.cache_words import cache_label
from kvstudio.app.fitting_label import FittingLabel
from kvstudio.app.layer.geometry import Cell
from kvstudio.app.layer.layer_bar import LayerBar
from kvstudio.app.layer.pictures import LayerPictures
from kvstudio.app.layer.poke_menu import PokeMenu
from kvstudio.app.layer.reading import LayerReading
from kvstudio.app.layer.readout import slot_text
from kvstudio.app.layer.slot_history import SlotHistory
from kvstudio.app.layer.two_parts import TwoParts
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.stage import Stage
from kvstudio.app.why_empty import unallocated_words, why_empty
from kvstudio.recording.errors import RecordingError

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent

    from kvstudio.app.workspace import Workspace
    from kvstudio.recording.reader import Recording
    from kvstudio.recording.rows import Cache

NO_VALUES = (
    "This run kept no values, for its trace was off. The cache map shows which slots were "
    "written; with the trace at “cache” or “full”, the next run keeps what they hold."
)
IDLE = "Point at a value to read it. Arrow keys move the cursor, [ and ] change the layer."
SLOW_MS = 120
MOMENT = Changed.RECORDING | Changed.FRAME | Changed.CACHE


class LayerPanel(Panel):
    """Follows the cursor's cache, frame and slot; a slot that is clicked becomes the cursor's.

    Attributes:
        facts_line: shape, moment, range and NaN of what is shown.
        readout: the value under the pointer, else at the cursor.
        poke: what can be put into the selected slot.
    """

    title = "Layer view"
    key = "layer"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self._reading: LayerReading | None = None
        self._hovered: Cell | None = None
        self.bar = LayerBar(self.key)
        self.facts_line, self.readout = FittingLabel("muted"), FittingLabel()
        self.pictures = LayerPictures()
        self.history = SlotHistory()
        self.poke = PokeMenu(self)
        self.parts = TwoParts(self.pictures, self.history)
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._arrange()
        self._make_actions()
        self._connect()

    def refresh(self, changed: Changed) -> None:
        """Shows the cursor's layer at the cursor's frame."""
        if changed & Changed.STYLE:
            self.bar.restyle()
            self.pictures.restyle()
        try:
            sentence = self._why_empty(changed)
        except RecordingError as error:
            sentence = str(error)
        if sentence:
            self._reading = None
            self.stage.say(sentence)
        else:
            self._show(changed)
            self.stage.present()

    def show_details(self) -> None:
        """Shows what may lag behind a little: the histogram and the history of the slot."""
        if self._reading is not None:
            self.bar.range.strip.show_sample(self._reading.sample)
            if self.history.isVisible():
                self._show_history()

    @property
    def is_sound(self) -> bool:
        """Whether nothing that is shown is called out."""
        return self._reading is None or self._reading.is_sound

    def copy_value(self) -> None:
        """Puts the value at the cursor, with its place, on the clipboard."""
        if self._reading is not None and self.pictures.cell is not None:
            QGuiApplication.clipboard().setText(self._reading.cell_words(self.pictures.cell))

    def copy_slot(self) -> None:
        """Puts all values of the selected slot on the clipboard, as a table."""
        reading, slot = self._reading, self.workspace.cursor.slot
        if reading is not None and slot is not None and slot < reading.moment.slots.capacity:
            label = cache_label(reading.cache)
            text = slot_text(label, reading.values.values, slot, reading.columns)
            QGuiApplication.clipboard().setText(text)

    def go_to_writer(self) -> None:
        """Moves the cursor to the frame that wrote the selected slot, if one did."""
        slot = self.workspace.cursor.slot
        if self._reading is None or slot is None:
            return
        writer = self._reading.moment.writer(slot)
        if writer is not None:
            self.workspace.move(frame=writer)

    # ---- private: setting up ------------------------------------------------------------------

    def _arrange(self) -> None:
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setContentsMargins(8, 4, 4, 3)
        column.setSpacing(2)
        column.addWidget(self.bar)
        column.addWidget(self.facts_line)
        column.addWidget(self.parts, 1)
        column.addWidget(self.readout)
        self.stage = Stage(contents)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.stage)

    def _make_actions(self) -> None:
        """The keys of the whole panel, and those of the pictures, which are also their menu."""
        copy = QKeySequence(QKeySequence.StandardKey.Copy)
        pictures, bar = self.pictures, self.bar
        for owner, text, keys, do in (
            (pictures, "&Copy value", copy, self.copy_value),
            (pictures, "Copy &slot", QKeySequence("Ctrl+Shift+C"), self.copy_slot),
            (pictures, "&Go to its writing frame", QKeySequence("Return"), self.go_to_writer),
            (pictures, "Show &all", QKeySequence("0"), pictures.look_at_all),
            (self, "Previous layer", QKeySequence("["), lambda: bar.step(-1)),
            (self, "Next layer", QKeySequence("]"), lambda: bar.step(1)),
            (self, "Fit the range", QKeySequence("F"), self._fit_range),
        ):
            action = QAction(text, owner, shortcut=keys)
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(do)
            owner.addAction(action)
        pictures.addAction(self.poke.menuAction())
        pictures.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _connect(self) -> None:
        self.bar.cache_chosen.connect(self._on_bar_cache_chosen)
        self.bar.options_changed.connect(self._on_bar_options_changed)
        self.bar.range.range_changed.connect(self._on_range_range_changed)
        self.bar.range.fit_requested.connect(self._fit_range)
        self.pictures.cell_hovered.connect(self._on_pictures_cell_hovered)
        self.pictures.cell_chosen.connect(self._on_pictures_cell_chosen)
        self.history.event_chosen.connect(self._on_history_event_chosen)
        self._slow.timeout.connect(self._on_slow_timeout)

    # ---- private: reading ---------------------------------------------------------------------

    def _why_empty(self, changed: Changed) -> str:
        """Reads what is to be shown; a sentence if there is nothing."""
        recording, frame = self.workspace.recording, self.workspace.cursor.frame
        sentence = why_empty(self.workspace)
        if sentence or recording is None or frame is None:
            return sentence
        if recording.spec.trace == "off":
            return NO_VALUES
        if changed & MOMENT or self._reading is None:
            return self._read(recording, self._cache(recording), frame)
        return ""

    def _cache(self, recording: Recording) -> Cache:
        wanted = self.workspace.cursor.cache
        return next((c for c in recording.caches if c.id == wanted), recording.caches[0])

    def _read(self, recording: Recording, cache: Cache, frame: int) -> str:
        reading = self._reading
        is_new = reading is None or (reading.recording, reading.cache) != (recording, cache)
        if is_new or reading is None:
            reading = LayerReading(recording, cache)
        reading.shows_expansion = self.bar.expansion.isChecked()
        reading.move(frame)
        self.bar.show_caches(recording.caches, cache.id)
        if not reading.moment.slots.capacity:
            return unallocated_words(cache)
        if is_new and not self.bar.range.locked:
            self._reading = None  # or the other layer would be shown in the new range
            self.bar.range.fit(reading.sample)
        self._reading = reading
        return ""

    # ---- private: showing ---------------------------------------------------------------------

    def _show(self, changed: Changed) -> None:
        reading = self._reading
        assert reading is not None
        if changed & (MOMENT | Changed.STYLE):
            self.bar.allow_expansion(reading.expansion is not None)
            self._show_values(reading)
        if changed & (MOMENT | Changed.SLOT):
            self._follow_slot()
        if changed & (MOMENT | Changed.SLOT | Changed.STYLE):
            self._show_slots(reading)
            self.poke.aim(reading.cache, self.workspace.cursor.slot, self.workspace.cursor.frame)
        self._show_readout()
        if changed & Changed.OP:
            self.history.mark(self.workspace.cursor.op)
        if not self._slow.isActive():
            self._slow.start()

    def _show_values(self, reading: LayerReading) -> None:
        self.pictures.arrange(reading.names, stacked=self.bar.stacked.isChecked())
        shown = reading.shown(self.bar.range.value_range)
        self.pictures.show_codes(shown, reading.columns, reading.moment.offset)
        self.facts_line.say(reading.lines(), tone="muted" if reading.is_sound else "error")

    def _show_slots(self, reading: LayerReading) -> None:
        self.pictures.show_slots(*reading.slots(), self.workspace.cursor.slot)

    def _follow_slot(self) -> None:
        """The cursor in the pictures stands on the slot that is selected anywhere."""
        slot, cell = self.workspace.cursor.slot, self.pictures.cell
        fits = slot is not None and slot < max(self.pictures.rows)
        if slot is None or not fits:
            self.pictures.put_cursor(None)
        elif cell is None:
            self.pictures.put_cursor(Cell(self.pictures.first_with(slot), slot, 0))
        elif cell.slot != slot:
            self.pictures.put_cursor(cell._replace(slot=slot))
        self.parts.show_side(slot is not None and self.bar.history.isChecked())

    def _show_readout(self) -> None:
        reading, cell = self._reading, self._hovered or self.pictures.cell
        known = reading is not None and cell is not None and reading.has(cell)
        self.readout.say(reading.cell_words(cell) if known and reading and cell else IDLE)

    def _show_history(self) -> None:
        reading, cursor = self._reading, self.workspace.cursor
        if reading is None or cursor.slot is None or cursor.frame is None:
            return
        label = cache_label(reading.cache)
        try:
            self.history.show_slot(
                reading.recording, reading.moment, cursor.slot, cursor.frame, label
            )
        except RecordingError as error:
            self.history.clear(str(error))
        self.history.mark(cursor.op)

    def _fit_range(self) -> None:
        if self._reading is not None:
            self.bar.range.fit(self._reading.sample)

    # ---- private: slots -----------------------------------------------------------------------

    def _on_bar_cache_chosen(self, cache: int) -> None:
        self.workspace.move(cache=cache)

    def _on_bar_options_changed(self) -> None:
        self.bar.save_settings()
        self.mark(Changed.CACHE)

    def _on_range_range_changed(self) -> None:
        if self._reading is not None:
            self._show_values(self._reading)

    def _on_pictures_cell_hovered(self, cell: Cell | None) -> None:
        self._hovered = cell
        self._show_readout()

    def _on_pictures_cell_chosen(self, cell: Cell) -> None:
        if self._reading is None:
            return
        self.workspace.move(cache=self._reading.cache.id, slot=cell.slot)
        self.poke.aim(self._reading.cache, cell.slot, self.workspace.cursor.frame)
        self._show_slots(self._reading)
        self._show_readout()

    def _on_history_event_chosen(self, frame: int, op: int | None) -> None:
        self.workspace.move(frame=frame, op=op)

    def _on_slow_timeout(self) -> None:
        if self.isVisible():
            self.show_details()

    # ---- Qt overrides -------------------------------------------------------------------------

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.bar.save_settings()
