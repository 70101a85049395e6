"""Which values the colours span: set by hand, fitted to what is there, kept or not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from kvstudio.app.codes import NARROWEST_RANGE, WIDEST_RANGE, quantile, robust_range
from kvstudio.app.layer.histogram_strip import HistogramStrip
from kvstudio.app.painting.icons import IconName, icon
from kvstudio.app.theme import current_palette

if TYPE_CHECKING:
    from kvstudio.app.layer.picture_codes import ValueRange
    from kvstudio.recording.rows import Floats

COVERAGE = 0.995
LIMIT = 1e37
FIGURES = "{:.4g}"
NO_BUTTONS = """
QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; height: 0; }
QDoubleSpinBox::up-arrow, QDoubleSpinBox::down-arrow { image: none; width: 0; height: 0; }
"""
ICON_SIZE = QSize(16, 16)


class RangeControl(QWidget):
    """Low and high with a histogram between them; fit, lock and symmetry.

    Signals:
        range_changed: by the user or by a fit.
        fit_requested: fit to the values shown now.
    """

    range_changed = Signal()
    fit_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.low, self.high = (
            RangeEdit("Lowest value in colour"),
            RangeEdit("Highest value in colour"),
        )
        self.strip = HistogramStrip()
        self.fit_button = tool_button("Fit the range to what this layer holds now (F)")
        self.lock = tool_button("Keep this range when another layer is shown", checkable=True)
        self.symmetric = tool_button("Keep zero in the middle of the colours", checkable=True)
        self.symmetric.setChecked(True)
        self._range: ValueRange = (-1.0, 1.0)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(3)
        for widget in (self.low, self.strip, self.high, self.fit_button, self.lock, self.symmetric):
            row.addWidget(widget)
        self._show()
        self.low.valueChanged.connect(self._on_low_value_changed)
        self.high.valueChanged.connect(self._on_high_value_changed)
        self.strip.range_dragged.connect(self._on_strip_range_dragged)
        self.fit_button.clicked.connect(self.fit_requested)
        self.symmetric.toggled.connect(self._on_symmetric_toggled)

    @property
    def value_range(self) -> ValueRange:
        return self._range

    @property
    def locked(self) -> bool:
        return self.lock.isChecked()

    def fit(self, sample: Floats) -> None:
        """Spans nearly all of some finite values."""
        if sample.size == 0:
            return
        if self.symmetric.isChecked():
            self._set(*robust_range(sample))
        else:
            share = (1 - COVERAGE) / 2
            self._set(quantile(sample, share), quantile(sample, 1 - share))

    def kept(self) -> dict[str, Any]:
        """What to remember."""
        low, high = self._range
        return {
            "low": low,
            "high": high,
            "lock": self.locked,
            "symmetric": self.symmetric.isChecked(),
        }

    def take_up(self, kept: dict[str, Any]) -> None:
        """Goes on with what was remembered, as far as it makes sense."""
        low, high = kept.get("low"), kept.get("high")
        self.symmetric.setChecked(kept.get("symmetric") is not False)
        if isinstance(low, float) and isinstance(high, float) and math.isfinite(high - low):
            if kept.get("lock") is True and low < high:
                self._set(low, high)
                self.lock.setChecked(True)

    def restyle(self) -> None:
        palette = current_palette()
        names: tuple[tuple[QToolButton, IconName], ...] = (
            (self.fit_button, "fit"), (self.lock, "lock"), (self.symmetric, "symmetric"),
        )  # fmt: skip
        for button, name in names:
            button.setIcon(icon(name, palette))
        self.strip.update()

    # ---- private ------------------------------------------------------------------------------

    def _set(self, low: float, high: float) -> None:
        # No more figures than are shown, or leaving the field would pass for an edit.
        low, high = (float(FIGURES.format(end)) for end in (max(low, -LIMIT), min(high, LIMIT)))
        if not NARROWEST_RANGE <= high - low <= WIDEST_RANGE:
            room = max(abs(low) * 1e-3, 1e-6)
            low, high = low - room, low + room
        if (low, high) != self._range:
            self._range = low, high
            self._show()
            self.range_changed.emit()

    def _set_by_hand(self, low: float, high: float) -> None:
        self.lock.setChecked(True)
        self._set(low, high)
        self._show()

    def _show(self) -> None:
        for edit, value in zip((self.low, self.high), self._range, strict=True):
            edit.blockSignals(True)
            edit.setValue(value)
            edit.blockSignals(False)
        self.strip.show_range(*self._range)

    def _on_low_value_changed(self, low: float) -> None:
        if self.symmetric.isChecked():
            self._set_by_hand(-abs(low), abs(low))
        else:
            self._set_by_hand(low, max(self._range[1], low))

    def _on_high_value_changed(self, high: float) -> None:
        if self.symmetric.isChecked():
            self._set_by_hand(-abs(high), abs(high))
        else:
            self._set_by_hand(min(self._range[0], high), high)

    def _on_strip_range_dragged(self, low: float, high: float) -> None:
        if self.symmetric.isChecked():
            moved = low if low != self._range[0] else high
            low, high = -abs(moved), abs(moved)
        self._set_by_hand(low, high)

    def _on_symmetric_toggled(self, symmetric: bool) -> None:
        if symmetric:
            bound = max(abs(end) for end in self._range)
            self._set(-bound, bound)


class RangeEdit(QDoubleSpinBox):
    """A number of any size, shown with four figures."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setDecimals(12)
        self.setRange(-LIMIT, LIMIT)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        # WORKAROUND: with NoButtons and a style sheet the field is left one pixel wide.
        self.setStyleSheet(NO_BUTTONS)
        self.setKeyboardTracking(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFixedWidth(self.fontMetrics().horizontalAdvance("-0.00123") + 14)

    # ---- Qt overrides -------------------------------------------------------------------------

    def textFromValue(self, value: float) -> str:
        return FIGURES.format(value)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        try:
            float(text.replace(",", "."))
        except ValueError:
            return QValidator.State.Intermediate, text, position
        return QValidator.State.Acceptable, text, position

    def valueFromText(self, text: str) -> float:
        try:
            return float(text.replace(",", "."))
        except ValueError:
            return self.value()


def tool_button(tip: str, *, checkable: bool = False) -> QToolButton:
    """A small button with an icon and no words but its tip."""
    button = QToolButton()
    button.setCheckable(checkable)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setIconSize(ICON_SIZE)
    button.setStyleSheet("QToolButton { padding: 3px 4px; }")
    button.setFocusPolicy(button.focusPolicy().TabFocus)
    return button
