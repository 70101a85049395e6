"""The style sheet on top of Fusion: calm edges, even spacing; all sizes are device-independent."""

from __future__ import annotations

from dataclasses import asdict
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvstudio.app.theme import Palette

_SHEET = Template("""
QToolTip {
    background: $raised; color: $text; border: 1px solid $border; padding: 4px 6px;
}
QMainWindow::separator { background: $panel; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: $accent; }
QSplitter::handle { background: $panel; }
QSplitter::handle:hover { background: $accent; }

QDockWidget {
    color: $muted_text; font-weight: 600;
    titlebar-close-icon: url($pictures/close.svg); titlebar-normal-icon: url($pictures/float.svg);
}
QDockWidget::close-button, QDockWidget::float-button { border: none; padding: 0; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: $selection; }
QDockWidget::title {
    background: $panel; padding: 5px 8px; text-align: left; border-bottom: 1px solid $grid;
}

QMenuBar { background: $panel; border-bottom: 1px solid $grid; }
QMenuBar::item { padding: 4px 9px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: $selection; }
QMenu { background: $raised; border: 1px solid $border; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 24px; border-radius: 4px; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $disabled_text; background: transparent; }
QMenu::indicator { width: 14px; height: 14px; left: 5px; }
QMenu::indicator:checked { image: url($pictures/tick_menu.svg); }
QMenu::right-arrow { image: url($pictures/right.svg); width: 14px; height: 14px; }
QMenu::separator { height: 1px; background: $grid; margin: 4px 8px; }

QToolBar {
    background: $panel; border: none; border-bottom: 1px solid $grid;
    padding: 3px 6px; spacing: 3px;
}
QToolBar::separator { background: $border; width: 1px; margin: 5px 5px; }
QToolButton { border: 1px solid transparent; border-radius: 5px; padding: 4px 7px; }
QToolButton:hover:enabled { background: $raised; border-color: $border; }
QToolButton:pressed, QToolButton:checked { background: $selection; border-color: $accent; }
QToolButton:focus { border-color: $accent; }
QToolButton:disabled { color: $disabled_text; }
QToolButton[popupMode="1"] { padding-right: 20px; }
QToolButton::menu-button { border: none; width: 16px; }
QToolButton::menu-button:hover { background: $selection; border-radius: 4px; }
QToolButton::menu-arrow { image: url($pictures/down.svg); width: 13px; height: 13px; }

QPushButton {
    background: $raised; border: 1px solid $border; border-radius: 5px; padding: 5px 13px;
}
QPushButton:hover:enabled { border-color: $accent; }
QPushButton:pressed, QPushButton:checked { background: $selection; border-color: $accent; }
QPushButton:focus { border-color: $accent; }
QPushButton:default:enabled { background: $accent; color: $on_accent; border-color: $accent; }
QPushButton:disabled { color: $disabled_text; border-color: $grid; background: $panel; }

QLineEdit, QPlainTextEdit, QTextEdit, QComboBox, QAbstractSpinBox {
    background: $background; border: 1px solid $border; border-radius: 5px; padding: 3px 6px;
    selection-background-color: $selection; selection-color: $text;
}
QLineEdit, QComboBox, QAbstractSpinBox { min-height: 18px; }
QComboBox:!editable { background: $raised; }
QComboBox QLineEdit { border: none; padding: 0; }
QAbstractSpinBox { padding: 1px 2px; qproperty-alignment: "AlignRight | AlignVCenter"; }
QLineEdit:hover, QComboBox:hover, QAbstractSpinBox:hover { border-color: $muted_text; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QComboBox:focus, QAbstractSpinBox:focus {
    border-color: $accent;
}
QLineEdit:disabled, QPlainTextEdit:disabled, QTextEdit:disabled, QComboBox:disabled,
QAbstractSpinBox:disabled { background: $panel; color: $disabled_text; border-color: $grid; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url($pictures/down.svg); width: 16px; height: 16px; }
QComboBox::down-arrow:disabled { image: url($pictures/down_disabled.svg); }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $border; padding: 3px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
    border: none; background: transparent; width: 18px;
}
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: $selection; }
QAbstractSpinBox::up-arrow { image: url($pictures/up.svg); width: 12px; height: 12px; }
QAbstractSpinBox::down-arrow { image: url($pictures/down.svg); width: 12px; height: 12px; }
QAbstractSpinBox::up-arrow:disabled, QAbstractSpinBox::up-arrow:off {
    image: url($pictures/up_disabled.svg);
}
QAbstractSpinBox::down-arrow:disabled, QAbstractSpinBox::down-arrow:off {
    image: url($pictures/down_disabled.svg);
}

QCheckBox, QRadioButton { spacing: 7px; }
QCheckBox::indicator, QAbstractItemView::indicator, QGroupBox::indicator {
    width: 14px; height: 14px; border: 1px solid $muted_text; border-radius: 4px;
    background: $background;
}
QCheckBox::indicator:hover, QCheckBox::indicator:focus { border-color: $accent; }
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked, QGroupBox::indicator:checked {
    background: $accent; border-color: $accent; image: url($pictures/tick.svg);
}
QCheckBox::indicator:indeterminate, QAbstractItemView::indicator:indeterminate {
    background: $accent; border-color: $accent; image: url($pictures/dash.svg);
}
QCheckBox::indicator:disabled { background: $panel; border-color: $border; }
QCheckBox::indicator:checked:disabled { image: url($pictures/tick_disabled.svg); }
QRadioButton::indicator {
    width: 14px; height: 14px; border: 1px solid $muted_text; border-radius: 8px;
    background: $background;
}
QRadioButton::indicator:hover, QRadioButton::indicator:focus { border-color: $accent; }
QRadioButton::indicator:checked { border-color: $accent; background: qradialgradient(
    cx: 0.5, cy: 0.5, fx: 0.5, fy: 0.5, radius: 0.5,
    stop: 0 $accent, stop: 0.52 $accent, stop: 0.62 $background, stop: 1 $background); }
QRadioButton::indicator:disabled { border-color: $border; background: $panel; }
QCheckBox:disabled, QRadioButton:disabled, QLabel:disabled { color: $disabled_text; }

QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $border; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::sub-page:horizontal:disabled { background: $border; }
QSlider::handle:horizontal {
    width: 12px; height: 12px; margin: -5px 0; border-radius: 7px;
    background: $raised; border: 1px solid $muted_text;
}
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus { border-color: $accent; }
QSlider::handle:horizontal:disabled { background: $panel; border-color: $border; }

QAbstractItemView {
    background: $background; alternate-background-color: $panel; border: 1px solid $grid;
    gridline-color: $grid; outline: none;
    selection-background-color: $selection; selection-color: $text;
}
QHeaderView { background: $panel; }
QHeaderView::section {
    background: $panel; color: $muted_text; border: none; padding: 4px 7px;
    font-weight: normal; border-right: 1px solid $grid; border-bottom: 1px solid $grid;
}
QHeaderView::section:last { border-right: none; }
QHeaderView::up-arrow { image: url($pictures/up.svg); width: 12px; height: 12px; }
QHeaderView::down-arrow { image: url($pictures/down.svg); width: 12px; height: 12px; }
QTreeView::branch:has-children:closed { image: url($pictures/right.svg); }
QTreeView::branch:has-children:open { image: url($pictures/down.svg); }
QTableCornerButton::section { background: $panel; border: none; }

QTabBar::tab {
    background: transparent; color: $muted_text; padding: 5px 12px;
    border: none; border-bottom: 2px solid transparent;
}
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:hover:!selected { color: $text; }
QTabWidget::pane { border: none; border-top: 1px solid $grid; }

QStatusBar { background: $panel; color: $muted_text; border-top: 1px solid $grid; }
QStatusBar::item { border: none; }
QGroupBox {
    border: 1px solid $grid; border-radius: 6px; margin-top: 17px; padding: 8px 8px 6px 8px;
}
QGroupBox::title {
    subcontrol-origin: margin; left: 2px; padding: 0 2px 2px 2px; color: $muted_text;
}
QProgressBar {
    background: $grid; border: none; border-radius: 3px; max-height: 6px; min-height: 6px;
}
QProgressBar::chunk { background: $accent; border-radius: 3px; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 12px; }
QScrollBar:horizontal { height: 12px; }
QScrollBar::handle { background: $border; border-radius: 3px; margin: 3px; }
QScrollBar::handle:hover { background: $muted_text; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
""")


def style_sheet(palette: Palette, pictures: str) -> str:
    """Fill in the colours and the resource folder that holds the arrows and ticks."""
    names = {name: str(value) for name, value in asdict(palette).items()}
    return _SHEET.substitute(names, pictures=pictures)
