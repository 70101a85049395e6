"""Cache map: every layer of FlowLM and Mimi as a strip of slots, as the frame left them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication, QKeySequence, QPalette
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from kvstudio.app.cache_map.grouping import (
    ENCODER,
    finding_lines,
    finding_marks,
    fresh_marks,
    grouped,
    touch_marks,
)
from kvstudio.app.cache_map.words import (
    encoder_line,
    group_lines,
    map_text,
    normal_lines,
    trouble_lines,
)
from kvstudio.app.cache_moment import cache_moments, slot_words
from kvstudio.app.cache_words import cache_labels, cache_title, touches_words
from kvstudio.app.fitting_label import FittingLabel
from kvstudio.app.painting.slot_strip import SlotStrips
from kvstudio.app.panel import Changed, Panel
from kvstudio.app.stage import Stage
from kvstudio.app.theme import current_palette
from kvstudio.app.why_empty import why_empty
from kvstudio.recording.errors import RecordingError

if TYPE_CHECKING:
    from kvstudio.app.cache_map.grouping import CacheGroup
    from kvstudio.app.cache_moment import CacheMoment
    from kvstudio.app.workspace import Workspace
    from kvstudio.recording.reader import Recording

IDLE = "Point at a slot to read what it is. Click to select it."
SLOTS = Changed.RECORDING | Changed.FRAME
MARKS = SLOTS | Changed.OP | Changed.FINDINGS


class CacheMapPanel(Panel):
    """Follows the cursor's frame; a slot that is clicked becomes the cursor's.

    Attributes:
        trouble_line: what is wrong; hidden while nothing is.
        op_line: what the selected op touches; hidden while none is selected.
        slot_line: the slot under the pointer, else the selected one.
        strips: the map itself.
        encoder: shows or hides the layers of Mimi's encoder.
    """

    title = "Cache map"
    key = "cache_map"

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self._groups: list[CacheGroup] = []
        self._shown: list[CacheMoment] = []
        self._layers: dict[int, int] = {}  # row in the map by cache id
        self.trouble_line, self.op_line = FittingLabel("error"), FittingLabel()
        self.slot_line = FittingLabel("muted")
        self.strips = SlotStrips(current_palette())
        self.strips.describe = self._tip
        self.encoder = QToolButton(autoRaise=True)
        self.encoder.setCheckable(True)
        self.encoder.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.encoder.setArrowType(Qt.ArrowType.RightArrow)
        self.encoder.setStyleSheet(
            "QToolButton { padding: 1px 4px; }"
            "QToolButton:checked:!hover { background: transparent; border-color: transparent; }"
        )
        self.encoder.setToolTip(
            "Encoder layers: allocated, never used. Mimi's encoder makes the prompt of the voice "
            "before the run; speaking leaves its caches alone."
        )
        self._arrange()
        self._make_actions()
        self.strips.slots_selected.connect(self._on_strips_slots_selected)
        self.strips.slot_hovered.connect(self._on_strips_slot_hovered)
        self.encoder.toggled.connect(self._on_encoder_toggled)

    def refresh(self, changed: Changed) -> None:
        """Shows the frame's caches, the op's touches, the selected slot."""
        recording = self.workspace.recording
        sentence = why_empty(self.workspace)
        if recording is None or sentence:
            self._groups, self._shown, self._layers = [], [], {}
            self.stage.say(sentence)
            return
        if changed & Changed.STYLE:
            self._dress()
        try:
            if changed & SLOTS or not self._groups:
                self._read(recording)
            if changed & MARKS:
                self._show_marks(recording)
        except RecordingError as error:
            self.stage.say(str(error))
            return
        if changed & (SLOTS | Changed.CACHE | Changed.SLOT):
            self._show_selection()
        self.stage.present()

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setContentsMargins(8, 3, 4, 3)
        column.setSpacing(0)
        column.addWidget(self.trouble_line)
        column.addWidget(self.strips, 1)
        column.addWidget(self.op_line)
        foot = QHBoxLayout()
        foot.addWidget(self.slot_line, 1)
        foot.addWidget(self.encoder)
        column.addLayout(foot)
        self.trouble_line.hide()
        self.op_line.hide()
        self.stage = Stage(contents)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.stage)

    def _dress(self) -> None:
        self.strips.set_palette(current_palette())
        quiet = self.encoder.palette()
        quiet.setColor(QPalette.ColorRole.ButtonText, QColor(current_palette().muted_text))
        self.encoder.setPalette(quiet)

    def _make_actions(self) -> None:
        copy = QAction(
            "&Copy map as text", self, shortcut=QKeySequence(QKeySequence.StandardKey.Copy)
        )
        copy.triggered.connect(self.copy_text)
        writer = QAction(
            "&Go to the frame that wrote the slot", self, shortcut=QKeySequence("Return")
        )
        writer.triggered.connect(self.go_to_writer)
        for action in (copy, writer):
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self.strips.addAction(action)
        self.strips.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    @property
    def sentences(self) -> dict[str, str]:
        """The state of each group in words, by the group's name."""
        return {each.group.name: each.group.words[0] for each in self.strips.scene().groups}

    def copy_text(self) -> None:
        """Puts the whole map on the clipboard."""
        if self._groups and self.workspace.frame is not None:
            QGuiApplication.clipboard().setText(map_text(self._groups, self.workspace.frame))

    def go_to_writer(self) -> None:
        """Moves the cursor to the frame that wrote the selected slot, if one did."""
        at = self.strips.selection
        if at is None:
            return
        writer = self._shown[at.layer].writer(at.cursor)
        if writer is not None:
            self.workspace.move(frame=writer)

    def _read(self, recording: Recording) -> None:
        frame = self.workspace.frame
        assert frame is not None
        self._groups = grouped(cache_moments(recording, frame.id), recording.chunks)
        visible = [g for g in self._groups if g.name != ENCODER or self.encoder.isChecked()]
        self._shown = [moment for group in visible for moment in group.moments]
        self._layers = {moment.cache.id: layer for layer, moment in enumerate(self._shown)}
        chunk = recording.chunks[frame.chunk]
        strips = [group.strips(group_lines(group, frame, chunk)) for group in visible]
        self.strips.set_groups(strips)
        encoder = [group for group in self._groups if group.name == ENCODER]
        self.encoder.setVisible(bool(encoder))
        if encoder:
            self.encoder.setText(encoder_line(encoder[0]))
        self._show_trouble()

    def _show_trouble(self) -> None:
        lines = trouble_lines(self._groups)
        self.trouble_line.setVisible(bool(lines))
        if lines:
            self.trouble_line.say([" · ".join(lines), lines[0]], "⚠")
            self.trouble_line.setToolTip("\n".join(lines))

    def _show_marks(self, recording: Recording) -> None:
        cursor, now = self.workspace.cursor, self.workspace.frame
        assert cursor.frame is not None
        assert now is not None
        marks = fresh_marks(self._shown, cursor.frame)
        touches = recording.ops.touches(cursor.op) if cursor.op is not None else []
        marks += touch_marks(touches, self._layers)
        findings = self.workspace.findings.findings
        marks += finding_marks(findings, self._layers, recording.frames, now)
        self.strips.set_marks(marks)
        self.op_line.setVisible(cursor.op is not None)
        if cursor.op is not None:
            words = touches_words(touches, cache_labels(recording.caches))
            self.op_line.say(words or "touches no slot of a cache", f"op {cursor.op:,}")

    def _show_selection(self) -> None:
        cursor, at = self.workspace.cursor, self.strips.selection
        layer = self._layers.get(-1 if cursor.cache is None else cursor.cache)
        if layer is None or cursor.slot is None:
            self.strips.clear_selection()
        elif at is None or (at.layer, at.cursor) != (layer, cursor.slot):
            self.strips.select(layer, cursor.slot, cursor.slot + 1)
        self._show_slot(None)

    def _show_slot(self, place: tuple[int, int] | None) -> None:
        """Says what the slot at a (layer, slot) is, else the selected one."""
        at = self.strips.selection
        if place is None and at is not None and at.layer < len(self._shown):
            place = at.layer, at.cursor
        frames = self.workspace.recording.frames if self.workspace.recording else []
        said = slot_words(self._shown[place[0]], place[1], frames) if place else IDLE
        self.slot_line.say((said, said.replace(", written in", ",").split(" (frame")[0]))

    def _tip(self, layer: int, slot: int) -> str:
        if layer >= len(self._shown) or self.workspace.recording is None:
            return ""
        moment = self._shown[layer]
        said = slot_words(moment, slot, self.workspace.recording.frames)
        found = finding_lines(self.workspace.findings.findings, moment.cache.id, slot)
        return "\n".join([cache_title(moment.cache), said, *found, *normal_lines(moment, slot)])

    def _on_strips_slots_selected(self, layer: int, first: int, end: int) -> None:
        at = self.strips.selection
        slot = at.cursor if at is not None else first
        self.workspace.move(cache=self._shown[layer].cache.id, slot=slot)

    def _on_strips_slot_hovered(self, layer: int, slot: int) -> None:
        self._show_slot((layer, slot) if 0 <= layer < len(self._shown) else None)

    def _on_encoder_toggled(self) -> None:
        opened = self.encoder.isChecked()
        self.encoder.setArrowType(Qt.ArrowType.DownArrow if opened else Qt.ArrowType.RightArrow)
        self.mark(Changed.RECORDING)
