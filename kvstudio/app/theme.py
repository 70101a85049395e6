"""The one table of colours, light and dark, and the theme that puts it on the whole window.

Hues follow Okabe and Ito, safe for colour-blind eyes. What is healthy is cool and quiet (blues,
greens); what is wrong is warm and loud (orange, vermilion, purple). No state is told by colour
alone: the painters add a hatch, a glyph or a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import pyqtgraph as pg
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from kvstudio.app.painting.sheet_pictures import register_pictures
from kvstudio.app.painting.style_sheet import style_sheet

if TYPE_CHECKING:
    from collections.abc import Iterable

Mode = Literal["system", "light", "dark"]


@dataclass(frozen=True, eq=False)
class Palette:
    """Every colour of the window by what it means, as `#rrggbb`; compared by identity."""

    is_dark: bool
    background: str  # plots, tables, text fields
    panel: str  # window, docks, tool bars
    raised: str  # buttons, headers
    text: str
    muted_text: str
    disabled_text: str
    grid: str
    border: str
    accent: str
    on_accent: str
    selection: str  # selected rows and ranges
    voice: str
    text_slot: str
    generated: str
    unwritten: str
    hatch: str  # lines over unwritten slots
    stale: str
    hole: str
    dropped: str
    edited: str
    nan: str
    inf: str
    masked: str
    value_below: str
    value_low: str
    value_zero: str
    value_high: str
    value_above: str
    warning: str
    error: str
    ok: str
    waveform: str
    playhead: str
    eos_logit: str
    threshold: str
    read_mark: str
    write_mark: str


LIGHT = Palette(
    is_dark=False,
    background="#ffffff",
    panel="#f3f4f6",
    raised="#fbfbfc",
    text="#1d232e",
    muted_text="#5d6778",
    disabled_text="#a4acb8",
    grid="#e3e6eb",
    border="#cdd3dc",
    accent="#0072b2",
    on_accent="#ffffff",
    selection="#cfe5f3",
    voice="#7aa1c5",
    text_slot="#bcdaee",
    generated="#7ac7ab",
    unwritten="#f3f4f6",
    hatch="#c3c9d3",
    stale="#e69f00",
    hole="#d55e00",
    dropped="#d55e00",
    edited="#f0e442",
    nan="#a8327d",
    inf="#f0c419",
    masked="#8f8a86",
    value_below="#00304d",
    value_low="#0a6ba8",
    value_zero="#f7f6f3",
    value_high="#c25400",
    value_above="#5e2600",
    warning="#9a5b00",
    error="#b83b00",
    ok="#00745a",
    waveform="#2d7cb0",
    playhead="#c25400",
    eos_logit="#00805f",
    threshold="#c25400",
    read_mark="#0072b2",
    write_mark="#005a43",
)

DARK = Palette(
    is_dark=True,
    background="#14171c",
    panel="#1d2128",
    raised="#272c35",
    text="#e3e7ed",
    muted_text="#98a3b3",
    disabled_text="#5c6675",
    grid="#2a303a",
    border="#3a424f",
    accent="#56b4e9",
    on_accent="#0b1620",
    selection="#1f465f",
    voice="#3c688f",
    text_slot="#6f9fc4",
    generated="#3a9d7f",
    unwritten="#1a1e25",
    hatch="#414a58",
    stale="#e69f00",
    hole="#f0772b",
    dropped="#f0772b",
    edited="#f0e442",
    nan="#d56bb0",
    inf="#f0e442",
    masked="#77706b",
    value_below="#d9f0ff",
    value_low="#5cb8ef",
    value_zero="#1c2027",
    value_high="#f5a03c",
    value_above="#ffe9c7",
    warning="#e6a532",
    error="#f58a52",
    ok="#3fc29a",
    waveform="#56b4e9",
    playhead="#f5a03c",
    eos_logit="#3fc29a",
    threshold="#f5a03c",
    read_mark="#56b4e9",
    write_mark="#8df0cf",
)


class Theme(QObject):
    """Dresses the application; a child of it, and gone with it.

    Signals:
        palette_changed: a new `Palette` is in force; whoever paints by hand repaints.
    """

    palette_changed = Signal(object)

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._mode: Mode = "system"
        self.palette: Palette | None = None
        app.styleHints().colorSchemeChanged.connect(self._on_hints_scheme_changed)

    def apply(self, mode: Mode) -> None:
        self._mode = mode
        _request_scheme(self._app, mode)
        self._wear(palette_for(mode, self._app))

    def _wear(self, palette: Palette) -> None:
        if palette is self.palette:
            return
        self.palette = palette
        self._app.setStyle("Fusion")
        self._app.setPalette(qt_palette(palette))
        self._app.setStyleSheet(style_sheet(palette, register_pictures(palette)))
        pg.setConfigOptions(background=palette.background, foreground=palette.muted_text)
        self.palette_changed.emit(palette)

    def _on_hints_scheme_changed(self) -> None:
        self._wear(palette_for(self._mode, self._app))


def apply_theme(app: QApplication, mode: Mode) -> Theme:
    """Dress the whole application and say which theme does it; call again to change the mode."""
    theme = theme_of(app) or Theme(app)
    theme.apply(mode)
    return theme


def theme_of(app: QApplication) -> Theme | None:
    return cast("Theme | None", app.findChild(Theme))


def current_palette() -> Palette:
    """The palette in force; before a theme is applied, what the system prefers."""
    app = cast("QApplication | None", QApplication.instance())
    if app is None:
        return LIGHT
    theme = theme_of(app)
    return (theme and theme.palette) or palette_for("system", app)


def palette_for(mode: Mode, app: QApplication) -> Palette:
    if mode == "system":
        return DARK if app.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT
    return DARK if mode == "dark" else LIGHT


def ink_on(ground: str) -> str:
    """Black or white, whichever reads better on `ground`."""
    color = QColor(ground)
    red, green, blue = (c**2.2 for c in (color.redF(), color.greenF(), color.blueF()))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#10151c" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def style_plot(plot: pg.PlotItem, palette: Palette) -> None:
    """Dress an existing plot: its axes, its titles and the ground of its view."""
    view = plot.getViewWidget()
    if view is not None:
        view.setBackground(palette.background)
    for name in ("left", "bottom", "right", "top"):
        axis = plot.getAxis(name)
        axis.setPen(palette.border)
        axis.setTextPen(palette.muted_text)


def qt_palette(palette: Palette) -> QPalette:
    """The same colours for everything Qt paints by itself, disabled states included."""
    role = QPalette.ColorRole
    colors: dict[QPalette.ColorRole, str] = {
        role.Window: palette.panel,
        role.WindowText: palette.text,
        role.Base: palette.background,
        role.AlternateBase: palette.panel,
        role.Text: palette.text,
        role.Button: palette.raised,
        role.ButtonText: palette.text,
        role.BrightText: palette.error,
        role.Highlight: palette.selection,
        role.HighlightedText: palette.text,
        role.ToolTipBase: palette.raised,
        role.ToolTipText: palette.text,
        role.PlaceholderText: palette.muted_text,
        role.Link: palette.accent,
        role.LinkVisited: palette.muted_text,
        role.Light: palette.raised,
        role.Midlight: palette.grid,
        role.Mid: palette.border,
        role.Dark: palette.border,
        role.Shadow: palette.border,
    }
    if hasattr(role, "Accent"):
        colors[role.Accent] = palette.accent
    result = QPalette()
    for each, name in colors.items():
        result.setColor(each, QColor(name))
    _fade(result, palette, (role.WindowText, role.Text, role.ButtonText, role.HighlightedText))
    return result


def _fade(result: QPalette, palette: Palette, roles: Iterable[QPalette.ColorRole]) -> None:
    for role in roles:
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(palette.disabled_text))
    disabled = QPalette.ColorGroup.Disabled
    result.setColor(disabled, QPalette.ColorRole.Base, QColor(palette.panel))
    result.setColor(disabled, QPalette.ColorRole.Highlight, QColor(palette.grid))


def _request_scheme(app: QApplication, mode: Mode) -> None:
    """Ask the platform for matching title bars and dialogs, where Qt (6.8 on) can ask."""
    hints = app.styleHints()
    if not hasattr(hints, "setColorScheme"):
        return
    scheme = Qt.ColorScheme
    hints.setColorScheme(
        {"system": scheme.Unknown, "light": scheme.Light, "dark": scheme.Dark}[mode]
    )
