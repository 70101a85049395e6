"""Setup, Model: which model to load, how, where, and what the loaded one is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from kvstudio.app.file_dialogs import ANY, CHECKPOINTS, CONFIGS
from kvstudio.app.setup.fields import Choice, Note, PathField, Section
from kvstudio.app.setup.form import MODEL_FIELDS, SetupForm
from kvstudio.app.words import in_bytes, in_count

FIRST = [("Demo, embedded", ("demo", ""))]
LAST = [("Config file…", ("config", "")), ("Checkpoint…", ("checkpoint", ""))]


class ModelSection(Section):
    """The model's fields; `folder` says where file dialogs begin."""

    def __init__(self, folder: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__("Model", parent)
        self.choice = Choice()
        self.choice.setAccessibleName("Model")
        self.config = PathField("Config file", [CONFIGS, ANY], folder)
        self.checkpoint = PathField("Checkpoint", [CHECKPOINTS, ANY], folder)
        self.checkpoint_config = PathField("Its config file or language", [CONFIGS, ANY], folder)
        self.quantize = QCheckBox("quantise to int8")
        self.device = Choice()
        self.device.setAccessibleName("Device")
        self.device.setToolTip("Where the model runs")
        self.problem = Note("error")
        self.card = Note("muted")
        self._arrange()
        self.show_engine(languages=[], devices=["cpu"])
        self.choice.activated.connect(self._on_choice_activated)
        for field in (self.config, self.checkpoint, self.checkpoint_config):
            field.edited.connect(self.edited)
        self.quantize.toggled.connect(self.edited)
        self.device.activated.connect(self.edited)

    def show_engine(self, languages: Sequence[str], devices: Sequence[str]) -> None:
        """Offers what the engine says it has; the present choice stays."""
        kept, device = self.choice.currentData(), self.device.currentText()
        self.choice.clear()
        named = [(name, ("language", name)) for name in languages]
        for position, (words, source) in enumerate([*FIRST, *named, *LAST]):
            self.choice.addItem(words, source)
            if position in (0, len(named)) and named:
                self.choice.insertSeparator(self.choice.count())
        self._choose(kept or ("demo", ""))
        self.device.clear()
        self.device.addItems(list(devices))
        self._choose_device(device or "cpu")

    def fill(self, form: SetupForm) -> None:
        self._choose((form.kind, form.language if form.kind == "language" else ""))
        self.config.show_path(form.config)
        self.checkpoint.show_path(form.checkpoint)
        self.checkpoint_config.show_path(form.checkpoint_config)
        self.quantize.setChecked(form.quantize)
        self._choose_device(form.device)

    def read(self, form: SetupForm) -> SetupForm:
        kind, language = self.choice.currentData()
        return replace(
            form,
            kind=kind,
            language=language or form.language,
            config=self.config.path,
            checkpoint=self.checkpoint.path,
            checkpoint_config=self.checkpoint_config.path,
            quantize=self.quantize.isChecked(),
            device=self.device.currentText(),
        )

    def show_problems(self, problems: Mapping[str, str]) -> None:
        self.problem.say("\n".join(problems[name] for name in MODEL_FIELDS if name in problems))

    def show_card(self, card: Mapping[str, Any], *, chosen: bool) -> None:
        """What the loaded model is; `chosen`: it is the one that is filled in."""
        self.aside.setText(
            ("loaded" if chosen else f"{card.get('name')} is loaded") if card else ""
        )
        self.card.say(card_words(card) if chosen else "")

    # ---- private ------------------------------------------------------------------------------

    def _arrange(self) -> None:
        options = QHBoxLayout()
        options.addWidget(self.quantize)
        options.addStretch()
        self.device.setMaximumWidth(96)
        options.addWidget(self.device)
        for field in (self.choice, self.config, self.checkpoint, self.checkpoint_config):
            self.rows.addWidget(field)
        self.rows.addWidget(self.problem)
        self.rows.addLayout(options)
        self.rows.addWidget(self.card)

    def _choose(self, source: tuple[str, str]) -> None:
        found = next((n for n in range(self.choice.count()) if self._source(n) == source), -1)
        if found < 0:  # a language that this pocket-tts does not ship
            self.choice.insertItem(1, source[1] or source[0], source)
            found = 1
        self.choice.setCurrentIndex(found)
        self._show_fields()

    def _choose_device(self, device: str) -> None:
        if self.device.findText(device) < 0:
            self.device.addItem(device)
        self.device.setCurrentText(device)

    def _source(self, number: int) -> tuple[str, str] | None:
        source = self.choice.itemData(number)
        return None if source is None else (str(source[0]), str(source[1]))

    def _show_fields(self) -> None:
        kind = self.choice.currentData()[0]
        self.config.setVisible(kind == "config")
        self.checkpoint.setVisible(kind == "checkpoint")
        self.checkpoint_config.setVisible(kind == "checkpoint")

    def _on_choice_activated(self) -> None:
        self._show_fields()
        self.edited.emit()


def card_words(card: Mapping[str, Any]) -> str:
    """Such as `6 layers of 4 heads, 32 dims each · 2.2 M parameters · float32 on cpu`."""
    if not card:
        return ""
    known = {"layers": "?", "heads": "?", "dim": "?", "mimi_layers": "?", **card}
    words = [
        "{layers} layers of {heads} heads, {dim} dims each".format(**known),
        "{mimi_layers} layers in Mimi".format(**known),
        f"{in_count(float(card.get('parameters', 0)))} parameters",
        f"{card.get('dtype', '?')} on {card.get('device', '?')}",
        str(card.get("quantized") or ""),
        f"{in_bytes(float(card.get('slot_bytes', 0)))} a slot",
    ]
    # Each part stays whole where the line is wrapped.
    return " · ".join(word.replace(" ", "\u00a0") for word in words if word)
