"""Which frame a key goes to."""

from __future__ import annotations

from PySide6.QtCore import Qt

PAGE = 10
PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -PAGE,
    Qt.Key.Key_PageDown: PAGE,
}


def stepped(
    cursor: int | None, key: Qt.Key, modifiers: Qt.KeyboardModifier, frames: int
) -> int | None:
    """The frame that a key leads to from the cursor; None if it is not such a key."""
    if cursor is None or not frames or modifiers not in PLAIN:
        return None
    if key is Qt.Key.Key_Home:
        return 0
    if key is Qt.Key.Key_End:
        return frames - 1
    return min(max(0, cursor + STEPS[key]), frames - 1) if key in STEPS else None
