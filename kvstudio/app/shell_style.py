"""The style sheet of the window's own parts, on top of the application's."""

from string import Template

from PySide6.QtWidgets import QApplication

from kvstudio.app.theme import Palette

_SHEET = Template("""
QLabel[role="muted"] { color: $muted; }
QLabel[role="caption"] { color: $muted; font-size: $small; padding-top: 3px; }
QLabel[role="error"] { color: $error; }
QLabel[role="section"] { color: $muted; font-weight: 600; }
QToolButton[role="beside"] { background: $raised; border: 1px solid $border; border-radius: 5px; }
QToolButton[role="beside"]:hover, QToolButton[role="beside"]:focus { border-color: $accent; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QDockWidget::title { padding: 3px 8px; }

QToolBar#banner_bar { padding: 0; border: none; background: $panel; }
QFrame[banner="error"] {
    background: $error_ground; border: none; border-left: 3px solid $error;
    border-bottom: 1px solid $border;
}
QFrame[banner="note"] {
    background: $note_ground; border: none; border-left: 3px solid $accent;
    border-bottom: 1px solid $border;
}
QLabel[banner_glyph] { border-radius: 9px; font-weight: 700; color: $on_glyph; }
QLabel[banner_glyph="error"] { background: $error; }
QLabel[banner_glyph="note"] { background: $accent; }

QLabel#frame_words { font-weight: 600; padding: 0 4px; }
QLabel#state_dot { border-radius: 5px; background: $muted; }
QLabel#state_dot[tone="held"] { background: $accent; }
QLabel#state_dot[tone="running"] { background: $ok; }
QLabel#state_dot[tone="busy"] { background: $warning; }
QLabel#state_dot[tone="dead"] { background: $error; }
QLabel#state_words { color: $text; }
""")


def shell_sheet(palette: Palette) -> str:
    return _SHEET.substitute(
        small=f"{round(QApplication.font().pointSizeF() * 0.9, 1)}pt",
        muted=palette.muted_text,
        text=palette.text,
        error=palette.error,
        warning=palette.warning,
        ok=palette.ok,
        raised=palette.raised,
        border=palette.border,
        accent=palette.accent,
        panel=palette.panel,
        on_glyph=palette.background,
        error_ground=_mixed(palette.error, palette.panel, 0.12),
        note_ground=_mixed(palette.accent, palette.panel, 0.12),
    )


def _mixed(ink: str, ground: str, share: float) -> str:
    """`share` of one colour in the other."""
    pairs = [(int(ink[n : n + 2], 16), int(ground[n : n + 2], 16)) for n in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)
