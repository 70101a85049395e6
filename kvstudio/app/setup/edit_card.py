"""One edit in Setup: a line that unfolds into its recipe, frame and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from kvstudio.app.setup.edit_form import EditForm
from kvstudio.app.setup.fields import Choice, Note

if TYPE_CHECKING:
    from kvstudio.recording.recipes import Argument

COLUMNS = 3
FRAME_TIP = "The edit acts before this frame runs; 0 is the voice prefill, 1 the text prefill"


class EditCard(QWidget):
    """Signals.

    edited: something else is typed or chosen.
    remove_requested: the edit is to go.
    """

    edited = Signal()
    remove_requested = Signal()

    def __init__(self, form: EditForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._recipe = form.recipe
        self.head = QToolButton(autoRaise=True)
        self.head.setCheckable(True)
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.head.setStyleSheet("QToolButton { text-align: left; padding: 3px 4px; }")
        self.remove = QToolButton(autoRaise=True)
        self.remove.setText("✕")
        self.remove.setToolTip("Remove this edit")
        self.remove.setAccessibleName("Remove this edit")
        self.frame = QLineEdit(form.frame)
        self.fields: dict[str, QLineEdit | Choice] = {}
        self.problem = Note("error")
        self._arrange(form)
        self.head.toggled.connect(self.unfold)
        self.remove.clicked.connect(self.remove_requested)
        self.frame.textChanged.connect(self._on_field_edited)
        self.unfold(False)
        self._show_words()

    @property
    def form(self) -> EditForm:
        """What stands in the fields; empty ones mean the recipe's default."""
        typed = {name: _text(each) for name, each in self.fields.items()}
        defaults = self._defaults()
        kept = {name: text for name, text in typed.items() if text not in ("", defaults[name])}
        return EditForm(self._recipe, self.frame.text(), kept)

    def unfold(self, wanted: bool) -> None:
        self.head.setChecked(wanted)
        arrow = Qt.ArrowType.DownArrow if wanted else Qt.ArrowType.RightArrow
        self.head.setArrowType(arrow)
        self.body.setVisible(wanted)

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self, form: EditForm) -> None:
        self.body = QWidget()
        recipe = form.known
        says = QLabel(recipe.says if recipe is not None else "This recipe is not known here.")
        says.setProperty("role", "muted")
        says.setWordWrap(True)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        for column in range(COLUMNS):
            grid.setColumnStretch(column, 1)
        _place(grid, 0, "frame", self.frame, FRAME_TIP)
        for position, argument in enumerate(recipe.arguments if recipe is not None else (), 1):
            field = self._field(argument, form.arguments.get(argument.name, ""))
            self.fields[argument.name] = field
            tip = f"{argument.says}: {argument.must_be}"
            _place(grid, position, argument.name, field, tip[0].upper() + tip[1:])
        inside = QVBoxLayout(self.body)
        inside.setContentsMargins(20, 0, 0, 4)
        inside.setSpacing(3)
        inside.addWidget(says)
        inside.addLayout(grid)
        top = QHBoxLayout()
        top.setSpacing(2)
        top.addWidget(self.head, 1)
        top.addWidget(self.remove)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(2)
        whole.addLayout(top)
        whole.addWidget(self.problem)
        whole.addWidget(self.body)

    def _field(self, argument: Argument, typed: str) -> QLineEdit | Choice:
        if argument.kind == "choice":
            choice = Choice()
            choice.addItems(argument.choices)
            choice.setCurrentText(typed or argument.default)
            choice.activated.connect(self._on_field_edited)
            return choice
        line = QLineEdit(typed)
        line.setPlaceholderText(argument.default)
        line.setMinimumWidth(36)
        line.textChanged.connect(self._on_field_edited)
        return line

    def _defaults(self) -> dict[str, str]:
        known = EditForm(self._recipe, "").known
        return {} if known is None else {each.name: each.default for each in known.arguments}

    def _show_words(self) -> None:
        form = self.form
        self.head.setText(form.summary)
        self.head.setToolTip(form.summary)
        self.problem.say(form.problem)

    def _on_field_edited(self) -> None:
        self._show_words()
        self.edited.emit()


def _text(field: QLineEdit | Choice) -> str:
    return field.currentText() if isinstance(field, Choice) else field.text().strip()


def _place(grid: QGridLayout, position: int, label: str, field: QWidget, tip: str) -> None:
    row, column = divmod(position, COLUMNS)
    words = QLabel(label)
    words.setProperty("role", "caption")
    words.setBuddy(field)
    for each in (words, field):
        each.setToolTip(tip)
    field.setAccessibleName(label)
    grid.addWidget(words, 2 * row, column)
    grid.addWidget(field, 2 * row + 1, column)
