"""Small widgets that the sections of Setup are made of."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from kvstudio.app.file_dialogs import choose_file
from kvstudio.app.words import as_sentence

GAP = 6


class Note(QLabel):
    """A line of small words under a field, there only while it says something.

    Args:
        role: how the style sheet of the window dresses it: `muted`, `error` or `section`.
    """

    def __init__(self, role: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def say(self, words: str) -> None:
        self.setText("\n".join(map(as_sentence, words.split("\n"))))
        self.setVisible(bool(words))


class Section(QWidget):
    """A title, fields below it, and a place at the title's right for a few words.

    Signals:
        edited: the user changed something.
    """

    edited = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.aside = QLabel()
        self.aside.setProperty("role", "muted")
        heading = QLabel(title)
        heading.setProperty("role", "section")
        top = QHBoxLayout()
        top.addWidget(heading)
        top.addStretch()
        top.addWidget(self.aside)
        self.rows = QVBoxLayout(self)
        self.rows.setContentsMargins(0, 0, 0, 0)
        self.rows.setSpacing(GAP)
        self.rows.addLayout(top)
        # As high as its fields: a high window leaves its room below all sections.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)


class Choice(QComboBox):
    """A combo box that may be narrower than its longest entry, and ignores the wheel unfocused."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)

    def wheelEvent(self, event: object) -> None:
        if self.hasFocus():
            super().wheelEvent(event)  # type: ignore[arg-type]  # a QWheelEvent
        else:
            event.ignore()  # type: ignore[attr-defined]


class PathField(QWidget):
    """A path to type, or to choose by the button beside it.

    Signals:
        edited: another path.
    """

    edited = Signal()

    def __init__(
        self,
        title: str,
        filters: list[str],
        folder: Callable[[], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._title, self._filters, self._folder = title, filters, folder
        self.line = QLineEdit(placeholderText=title)
        self.line.setAcceptDrops(False)  # the panel takes dropped files
        self.line.setAccessibleName(title)
        self.button = ellipsis_button(f"Choose: {title}")
        self.button.clicked.connect(self._on_button_clicked)
        self.line.textChanged.connect(self.edited)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(self.line)
        row.addWidget(self.button)

    @property
    def path(self) -> str:
        return self.line.text()

    def show_path(self, path: str) -> None:
        if path != self.line.text():
            self.line.setText(path)
            self.line.setToolTip(path)

    def _on_button_clicked(self) -> None:
        folder = str(Path(self.path).parent) if self.path else self._folder()
        choose_file(self, self._title, self._filters, folder, self._on_dialog_chosen)

    def _on_dialog_chosen(self, path: Path) -> None:
        self.show_path(str(path))


def ellipsis_button(tip: str) -> QToolButton:
    button = QToolButton()
    button.setText("…")
    button.setToolTip(tip)
    button.setProperty("role", "beside")
    button.setAccessibleName(tip)
    button.setMinimumSize(QSize(28, 26))
    return button
