"""The row above the pictures: which layer, which range, which arrangement; it remembers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QWidget

from kvstudio.app.cache_words import cache_title
from kvstudio.app.layer.range_control import RangeControl, tool_button
from kvstudio.app.painting.icons import icon
from kvstudio.app.settings import Settings
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.recording.rows import Cache

LEAST_CHOOSER_WIDTH = 126
BEFORE_AND_AFTER = "Before and after the expansion that made room for this chunk"
NOTHING_EXPANDED = "No expansion: nothing gave this cache more slots for this chunk"


class LayerBar(QWidget):
    """The choices for the layer view.

    Attributes:
        chooser: which layer.
        range: which values the colours span.
        expansion, stacked, history: what is shown, and how.

    Signals:
        cache_chosen: the id of a cache, by the user.
        options_changed: one of the three buttons was pressed.
    """

    cache_chosen = Signal(int)
    options_changed = Signal()

    def __init__(self, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = key
        self._caches: list[Cache] = []
        self.chooser = QComboBox()
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.chooser.setMinimumWidth(LEAST_CHOOSER_WIDTH)
        self.chooser.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.chooser.setToolTip("Layer ([ and ] for the one before and the one after)")
        self.chooser.setAccessibleName("Layer")
        self.range = RangeControl()
        self.expansion = tool_button(BEFORE_AND_AFTER, checkable=True)
        self.stacked = tool_button("V below K instead of beside it", checkable=True)
        self.history = tool_button("History of the selected slot", checkable=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(3)
        row.addWidget(self.chooser)
        row.addSpacing(6)
        row.addWidget(self.range, 1)
        row.addSpacing(6)
        self._take_up_settings()
        self.chooser.activated.connect(self._on_chooser_activated)
        for button in (self.expansion, self.stacked, self.history):
            row.addWidget(button)
            button.toggled.connect(self.options_changed)

    def show_caches(self, caches: Sequence[Cache], current: int) -> None:
        """Offers the caches; `current` is the id of the one shown."""
        if self._caches != list(caches):
            self._caches = list(caches)
            self.chooser.clear()
            for cache in caches:
                self.chooser.addItem(cache_title(cache), cache.id)
            width = self.chooser.view().sizeHintForColumn(0) + 24
            self.chooser.view().setMinimumWidth(width)
        self.chooser.setCurrentIndex(self.chooser.findData(current))

    def step(self, layers: int) -> None:
        """Chooses a layer further down or up the list."""
        index = self.chooser.currentIndex() + layers
        if 0 <= index < self.chooser.count():
            self.cache_chosen.emit(self.chooser.itemData(index))

    def allow_expansion(self, possible: bool) -> None:
        self.expansion.setEnabled(possible)
        self.expansion.setToolTip(BEFORE_AND_AFTER if possible else NOTHING_EXPANDED)

    def save_settings(self) -> None:
        options = {"stacked": self.stacked.isChecked(), "history": self.history.isChecked()}
        Settings().remember(self._key, self.range.kept() | options)

    def restyle(self) -> None:
        palette = current_palette()
        self.range.restyle()
        self.expansion.setIcon(icon("expansion", palette))
        self.stacked.setIcon(icon("stacked", palette))
        self.history.setIcon(icon("history", palette))

    # ---- private ------------------------------------------------------------------------------

    def _take_up_settings(self) -> None:
        kept = Settings().remembered(self._key)
        self.range.take_up(kept)
        self.stacked.setChecked(kept.get("stacked") is True)
        self.history.setChecked(kept.get("history") is not False)

    def _on_chooser_activated(self, index: int) -> None:
        self.cache_chosen.emit(self.chooser.itemData(index))
