"""Setup, Text: what is to be spoken."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from kvstudio.app.setup.fields import Note, Section
from kvstudio.app.setup.form import SetupForm
from kvstudio.app.words import counted

LINES = 4


class TextSection(Section):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Text", parent)
        self.text = _Text()
        self.text.setAccessibleName("Text")
        self.text.setPlaceholderText("What the voice should say")
        self.text.setTabChangesFocus(True)
        height = self.text.fontMetrics().lineSpacing() * LINES + 16
        self.text.setFixedHeight(height)
        self.problem = Note("error")
        self.rows.addWidget(self.text)
        self.rows.addWidget(self.problem)
        self.text.textChanged.connect(self._on_text_changed)

    def fill(self, form: SetupForm) -> None:
        if form.text != self.text.toPlainText():
            self.text.setPlainText(form.text)

    def read(self, form: SetupForm) -> SetupForm:
        return replace(form, text=self.text.toPlainText())

    def show_problems(self, problems: Mapping[str, str]) -> None:
        self.problem.say(problems.get("text", ""))

    def _on_text_changed(self) -> None:
        self.aside.setText(counted(len(self.text.toPlainText().split()), "word"))
        self.edited.emit()


class _Text(QPlainTextEdit):
    """Leaves dropped files to the panel; dropped text is inserted."""

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return not source.hasUrls() and super().canInsertFromMimeData(source)
