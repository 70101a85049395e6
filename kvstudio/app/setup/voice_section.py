"""Setup, Voice: an embedded or predefined voice, a file, or an address."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from kvstudio.app.file_dialogs import ANY, AUDIO, choose_file
from kvstudio.app.setup.fields import GAP, Choice, Note, Section, ellipsis_button
from kvstudio.app.setup.form import SetupForm
from kvstudio.app.words import counted
from kvstudio.paths import resources
from kvstudio.recording.spec import DEMO_VOICE


class VoiceSection(Section):
    """The voice's fields; `folder` says where the file dialog begins."""

    def __init__(self, folder: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__("Voice", parent)
        self._folder = folder
        self._predefined: list[str] = []
        self._recent: list[str] = []
        self._offered: list[str] = []
        self.choice = Choice()
        self.choice.setEditable(True)
        self.choice.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.choice.setAccessibleName("Voice")
        line = self.choice.lineEdit()
        assert line is not None
        line.setPlaceholderText("name, file or hf://…, or drop a file here")
        line.setAcceptDrops(False)  # the panel takes dropped files
        self.button = ellipsis_button("Choose an audio file or a voice state")
        self.problem = Note("error")
        self.card = Note("muted")
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.choice)
        row.addWidget(self.button)
        self.rows.addLayout(row)
        self.rows.addWidget(self.problem)
        self.rows.addWidget(self.card)
        self.button.clicked.connect(self._on_button_clicked)
        self.choice.currentTextChanged.connect(self.edited)

    def show_offers(self, predefined: Sequence[str], recent: Sequence[str]) -> None:
        """Offers predefined names and the files used last."""
        self._predefined, self._recent = list(predefined), list(recent)
        self._offered = []

    def fill(self, form: SetupForm) -> None:
        self._offer(form.kind)
        if form.voice != self.choice.currentText():
            self.choice.setEditText(form.voice)
        self.choice.setToolTip(form.voice)

    def read(self, form: SetupForm) -> SetupForm:
        return replace(form, voice=self.choice.currentText())

    def show_problems(self, problems: Mapping[str, str]) -> None:
        self.problem.say(problems.get("voice", ""))

    def show_card(self, card: Mapping[str, Any], *, chosen: bool) -> None:
        """What the voice state holds; `chosen`: it is the one that is filled in."""
        self.aside.setText(card_words(card) if card and chosen else "")
        self.card.say(str(card.get("note") or "") if chosen else "")

    # ---- private ------------------------------------------------------------------------------

    def _offer(self, kind: str) -> None:
        names = embedded_voices() if kind == "demo" else self._predefined
        offered = [*names, *(path for path in self._recent if path not in names)]
        if offered == self._offered:
            return
        self._offered = offered
        typed = self.choice.currentText()
        blocked = self.choice.blockSignals(True)
        self.choice.clear()
        self.choice.addItems(names)
        if len(offered) > len(names) and names:
            self.choice.insertSeparator(self.choice.count())
        self.choice.addItems(offered[len(names) :])
        self.choice.setEditText(typed)
        self.choice.blockSignals(blocked)

    def _on_button_clicked(self) -> None:
        path = Path(self.choice.currentText())
        folder = str(path.parent) if path.is_absolute() else self._folder()
        choose_file(self, "Voice", [AUDIO, ANY], folder, self._on_dialog_chosen)

    def _on_dialog_chosen(self, path: Path) -> None:
        self.choice.setEditText(str(path))


def embedded_voices() -> list[str]:
    """Names of the voices that come with the demo model, the usual one first."""
    try:
        folder = resources() / "demo" / "voices"
    except FileNotFoundError:
        return []
    names = sorted(path.stem for path in folder.glob("*.wav"))
    return sorted(names, key=lambda name: name != DEMO_VOICE)


def card_words(card: Mapping[str, Any]) -> str:
    """Such as `19 slots, 1.5 s`."""
    words = counted(int(card.get("slots") or 0), "slot")
    seconds = card.get("seconds")
    return f"{words}, {float(seconds):.1f} s" if seconds else words
