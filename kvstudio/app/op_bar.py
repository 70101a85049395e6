"""Above the table of ops: which ops are listed, the filter, and how many there are, in one line."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QToolButton, QWidget

from kvstudio.app.filter_edit import FilterEdit
from kvstudio.app.op_query import OpScope

WIDE = 540  # below it the words are short ones, for a second line would cost a row of the table
WORDS: dict[OpScope, tuple[str, str]] = {
    "frame": ("Frame", "This frame"), "all": ("All", "All frames"), "slot": ("Slot", "This slot"),
}  # fmt: skip
FILTER_HELP = """<p>Shows the ops in which every word occurs: in the op, the module path, the source
line, or the shapes and dtypes.</p>
<table cellpadding="2">
<tr><td><code>copy_ layers.2</code></td><td>both words</td></tr>
<tr><td><code>-view</code></td><td>without this word</td></tr>
<tr><td><code>nan</code> or <code>inf</code></td><td>takes or gives such a number; for names
that contain it type more of them, as in <code>isnan</code></td></tr>
<tr><td><code>attention.py:190</code></td><td>a source line</td></tr>
<tr><td><code>f32[1,16</code></td><td>the beginning of a shape</td></tr>
</table>"""


class OpBar(QWidget):
    """Three choices of ops, of which one is in force.

    Signals:
        scope_chosen: another choice is in force.
    """

    scope_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.filter = FilterEdit("filter: words, -word, nan", FILTER_HELP)
        self.count = QLabel()
        self.count.setProperty("role", "muted")
        self._group = QButtonGroup(self)
        self.buttons: dict[OpScope, QToolButton] = {
            "frame": self._button("The ops of the frame under the cursor"),
            "all": self._button("The ops of the whole run"),
            "slot": self._button(""),
        }
        self.buttons["frame"].setChecked(True)
        self._group.idToggled.connect(self._on_group_toggled)
        scopes = QHBoxLayout()
        scopes.setSpacing(2)
        for button in self.buttons.values():
            scopes.addWidget(button)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 6, 6, 4)
        row.setSpacing(8)
        row.addLayout(scopes)
        row.addWidget(self.filter, 1)
        row.addWidget(self.count)
        self._slot: str | None = None
        self.name_slot(None)

    @property
    def scope(self) -> OpScope:
        found = [name for name, button in self.buttons.items() if button.isChecked()]
        return found[0] if found else "frame"

    def choose(self, scope: OpScope) -> None:
        self.buttons[scope].setChecked(True)

    def name_slot(self, slot: str | None) -> None:
        """Such as `slot 52 of L2`; None if no slot is selected."""
        self._slot = slot
        self._say_words()
        button = self.buttons["slot"]
        if slot is None:
            button.setToolTip("Select a slot in the cache map to list the ops that touch it")
        else:
            button.setToolTip(f"Ops touching {slot}: every read and write of it, in order")
        button.setEnabled(slot is not None or button.isChecked())

    # ---- private ------------------------------------------------------------------------------

    def _button(self, tip: str) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setCheckable(True)
        self._group.addButton(button)
        return button

    def _say_words(self) -> None:
        is_wide = self.width() >= WIDE
        for scope, button in self.buttons.items():
            button.setText(WORDS[scope][is_wide])
            button.setAccessibleName(WORDS[scope][True])
        if self._slot is not None:
            slot = self._slot if is_wide else self._slot.partition(" of ")[0]
            self.buttons["slot"].setText(slot[0].upper() + slot[1:])

    def _on_group_toggled(self, button: int, is_checked: bool) -> None:
        if is_checked:
            self.scope_chosen.emit()

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._say_words()
