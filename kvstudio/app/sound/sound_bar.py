"""The row of controls above a sound: play, stop, frame, loop, volume, and a line of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QSlider, QToolButton, QWidget

from kvstudio.app.fitting_label import FittingLabel
from kvstudio.app.painting.icons import IconName, icon
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from kvstudio.app.settings import Settings
    from kvstudio.app.sound.playback import Playback

ICON_SIZE = QSize(16, 16)
VOLUME_STEPS = 100
VOLUME_WIDTH = 74
WORDS_MARGIN = 6
REMEMBERED = "audio"
WITH_SOUND = ("play", "frame", "loop", "whole", "export")
IN_WORDS = ("each", "levels", "whole", "export")
ICONS_ALONE = ("stop", "loop", "mute")
SHEET = "QToolButton { padding: 3px 6px; }"


class SoundBar(QWidget):
    """Buttons by name, a volume slider and words; what they do is decided elsewhere.

    Volume, mute, spectrogram and whether each step is heard are remembered.

    Signals:
        pressed: the name of a button that was clicked.
        volume_changed: 0 to 1, 0 if muted.
    """

    pressed = Signal(str)
    volume_changed = Signal(float)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self.buttons: dict[str, QToolButton] = {}
        self.words = FittingLabel("muted")
        self.trouble = FittingLabel("error")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self._sounding = False
        self._fill()
        self._recall()
        self.restyle()

    @property
    def volume(self) -> float:
        """0 to 1; 0 if muted."""
        return 0.0 if self.buttons["mute"].isChecked() else self.slider.value() / VOLUME_STEPS

    @property
    def wants_levels(self) -> bool:
        """Whether there should be a spectrogram."""
        return self.buttons["levels"].isChecked()

    def restyle(self) -> None:
        muted = self.buttons["mute"].isChecked()
        icons: dict[str, IconName] = {
            "play": "pause" if self._sounding else "run",
            "stop": "stop",
            "frame": "play",
            "loop": "loop",
            "mute": "mute" if muted else "volume",
        }
        for name, picture in icons.items():
            self.buttons[name].setIcon(icon(picture, current_palette()))
        self.buttons["mute"].setToolTip("Unmute" if muted else "Mute")

    def show_playback(self, playback: Playback) -> None:
        """Show what can be done while this is heard."""
        if playback.sounding != self._sounding:
            self._sounding = playback.sounding
            self.buttons["play"].setText("Pause" if self._sounding else "Play")
            self.restyle()
        self.buttons["stop"].setEnabled(playback.active or playback.start > 0)
        self.buttons["loop"].setChecked(playback.looping)

    def allow(self, *, sound: bool) -> None:
        """Enable what needs samples, or not."""
        for name in WITH_SOUND:
            self.buttons[name].setEnabled(sound)

    def say(self, words: tuple[str, ...], silent: str, trouble: tuple[str, ...]) -> None:
        """Show where we are, why nothing can be heard, and what is wrong, each if any.

        Each from the fullest words to the shortest.
        """
        if silent:
            without = tuple(f"{each}  ·  No sound" for each in words)
            words = (*(f"{each}  ·  {silent}" for each in words[:1]), *without) or (silent,)
        self.words.say(words or ("",))
        self.trouble.say(trouble or ("",))
        shortest = self.trouble.fontMetrics().horizontalAdvance(trouble[-1]) if trouble else 0
        self.trouble.setMinimumWidth(min(shortest + 2, self.width() // 3))
        self.trouble.setVisible(bool(trouble))

    # ---- private ------------------------------------------------------------------------------

    def _fill(self) -> None:
        self.setStyleSheet(SHEET)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 2, 6, 2)
        row.setSpacing(2)
        for widget in (
            self._button("play", "Play", "Play the selection, or from here on (Space)"),
            self._button("stop", "Stop", "Stop; once more: back to the beginning"),
            self._button("frame", "Frame", "Play this frame (Shift+Space)"),
            self._button("loop", "Loop", "Loop the selection, else this frame (L)", True),
            self._button("each", "Each step", "Play each frame as it is stepped", True),
            _line(),
        ):
            row.addWidget(widget)
        row.addSpacing(WORDS_MARGIN)
        row.addWidget(self.words, 3)
        row.addWidget(self.trouble, 1)
        for widget in (
            self._button("levels", "Spectrogram", "Show the spectrogram as well", True),
            self._button("whole", "Fit", "Show the whole recording (0, double click)"),
            self._button("export", "Export…", "Save the sound as a WAV file"),
            _line(),
            self._button("mute", "Mute", "Mute", True),
        ):
            row.addWidget(widget)
        row.addWidget(self.slider)
        self._prepare_slider()

    def _button(self, name: str, text: str, tip: str, checkable: bool = False) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(checkable)
        button.setIconSize(ICON_SIZE)
        button.setAccessibleName(tip)
        # A click leaves the keyboard where it is, so that Space goes on meaning Play.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        if name in IN_WORDS:
            style = Qt.ToolButtonStyle.ToolButtonTextOnly
        elif name in ICONS_ALONE:
            style = Qt.ToolButtonStyle.ToolButtonIconOnly
        button.setToolButtonStyle(style)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda: self._on_button_clicked(name))
        self.buttons[name] = button
        return button

    def _prepare_slider(self) -> None:
        self.slider.setRange(0, VOLUME_STEPS)
        self.slider.setFixedWidth(VOLUME_WIDTH)
        self.slider.setToolTip("Volume")
        self.slider.setAccessibleName("Volume")
        self.slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.slider.valueChanged.connect(self._on_slider_value_changed)

    def _recall(self) -> None:
        kept = self.settings.remembered(REMEMBERED)
        self.buttons["mute"].setChecked(bool(kept.get("muted", False)))
        self.buttons["levels"].setChecked(bool(kept.get("levels", True)))
        self.buttons["each"].setChecked(bool(kept.get("each", False)))
        self.slider.blockSignals(True)
        self.slider.setValue(round(self.settings.volume * VOLUME_STEPS))
        self.slider.blockSignals(False)

    def _on_button_clicked(self, name: str) -> None:
        if name in ("mute", "levels", "each"):
            facts = {
                "muted": self.buttons["mute"].isChecked(),
                "levels": self.wants_levels,
                "each": self.buttons["each"].isChecked(),
            }
            self.settings.remember(REMEMBERED, facts)
        if name == "mute":
            self.restyle()
            self.volume_changed.emit(self.volume)
        self.pressed.emit(name)

    def _on_slider_value_changed(self, value: int) -> None:
        self.settings.volume = value / VOLUME_STEPS
        if self.buttons["mute"].isChecked():
            self.buttons["mute"].click()  # whoever moves it wants to hear
        else:
            self.volume_changed.emit(self.volume)


def _line() -> QFrame:
    line = QFrame(frameShape=QFrame.Shape.VLine, frameShadow=QFrame.Shadow.Plain)
    line.setFixedHeight(16)
    line.setForegroundRole(QPalette.ColorRole.Mid)
    return line
