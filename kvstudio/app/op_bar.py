"""Above the table of ops: which ops are listed, the filter, and how many there are."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QLabel, QToolButton, QWidget

from kvstudio.app.filter_edit import FilterEdit
from kvstudio.app.op_query import OpScope

WIDE = 640  # from here on everything fits on one line
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
            "frame": self._button("This frame", "The ops of the frame under the cursor"),
            "all": self._button("All frames", "The ops of the whole run"),
            "slot": self._button("This slot", ""),
        }
        self.buttons["frame"].setChecked(True)
        self._group.idToggled.connect(self._on_group_toggled)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(6, 6, 6, 4)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._scopes = QWidget()
        row = QHBoxLayout(self._scopes)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for button in self.buttons.values():
            row.addWidget(button)
        self._is_wide: bool | None = None
        self.name_slot(None)
        self._arrange(is_wide=False)

    @property
    def scope(self) -> OpScope:
        found = [name for name, button in self.buttons.items() if button.isChecked()]
        return found[0] if found else "frame"

    def choose(self, scope: OpScope) -> None:
        self.buttons[scope].setChecked(True)

    def name_slot(self, slot: str | None) -> None:
        """Such as `slot 52 of L2`; None if no slot is selected."""
        button = self.buttons["slot"]
        button.setText("This slot" if slot is None else slot[0].upper() + slot[1:])
        if slot is None:
            button.setToolTip("Select a slot in the cache map to list the ops that touch it")
        else:
            button.setToolTip(f"Ops touching {slot}: every read and write of it, in order")
        button.setEnabled(slot is not None or button.isChecked())

    # ---- private ------------------------------------------------------------------------------

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(True)
        self._group.addButton(button)
        return button

    def _arrange(self, *, is_wide: bool) -> None:
        if is_wide == self._is_wide:
            return
        self._is_wide = is_wide
        for widget in (self._scopes, self.filter, self.count):
            self._grid.removeWidget(widget)
        self._grid.addWidget(self._scopes, 0, 0)
        self._grid.addWidget(self.count, 0, 2)
        if is_wide:
            self._grid.addWidget(self.filter, 0, 1)
        else:
            self._grid.addWidget(self.filter, 1, 0, 1, 3)
        self._grid.setColumnStretch(1, 1)

    def _on_group_toggled(self, button: int, is_checked: bool) -> None:
        if is_checked:
            self.scope_chosen.emit()

    # ---- Qt overrides -------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(is_wide=self.width() >= WIDE)
