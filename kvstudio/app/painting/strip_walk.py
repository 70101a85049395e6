"""Walking over strips with the keyboard, and saying what one stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt

from kvstudio.app.painting.strips import PaintedRole

if TYPE_CHECKING:
    from kvstudio.app.painting.strip_scene import StripScene
    from kvstudio.app.painting.strips import SlotRoles, Strip

LAYERS_PER_PAGE = 8
ZOOM_STEP = 1.25

_SIDEWAYS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_UP_AND_DOWN = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -LAYERS_PER_PAGE,
    Qt.Key.Key_PageDown: LAYERS_PER_PAGE,
}


def stepped(
    scene: StripScene, key: Qt.Key, modifiers: Qt.KeyboardModifier
) -> tuple[int, int] | None:
    """The (layer, slot) a key leads to from the cursor; absent if the key does not walk."""
    layers = sum(shown.place.layers for shown in scene.groups)
    if layers == 0 or key not in {*_SIDEWAYS, *_UP_AND_DOWN, Qt.Key.Key_Home, Qt.Key.Key_End}:
        return None
    if scene.selection is None:
        return 0, 0
    layer, slot = scene.selection.layer, scene.selection.cursor
    if key in _UP_AND_DOWN:
        layer = min(max(layer + _UP_AND_DOWN[key], 0), layers - 1)
    roles = scene.strip(layer).roles
    if key in _SIDEWAYS:
        jumps = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        slot = next_change(roles, slot, _SIDEWAYS[key]) if jumps else slot + _SIDEWAYS[key]
    elif key is Qt.Key.Key_Home:
        slot = 0
    elif key is Qt.Key.Key_End:
        slot = len(roles) - 1
    return layer, min(max(slot, 0), max(0, len(roles) - 1))


def magnified(zoom: float, key: Qt.Key) -> float | None:
    """The zoom a key asks for; absent if the key asks for something else."""
    return {
        Qt.Key.Key_Plus: zoom * ZOOM_STEP,
        Qt.Key.Key_Equal: zoom * ZOOM_STEP,
        Qt.Key.Key_Minus: zoom / ZOOM_STEP,
        Qt.Key.Key_0: 1.0,
    }.get(key)


def next_change(roles: SlotRoles, slot: int, direction: int) -> int:
    """The nearest first slot of a run in one direction, or the end of the strip."""
    starts = np.flatnonzero(np.diff(roles)) + 1
    if direction > 0:
        after = starts[starts > slot]
        return int(after[0]) if after.size else len(roles) - 1
    before = starts[starts < slot]
    return int(before[-1]) if before.size else 0


def described(strip: Strip, slot: int) -> str:
    """One slot in words, for a tool tip or a screen reader."""
    if slot >= len(strip.roles):
        return f"{strip.name}: slot {slot} is past the capacity of {strip.capacity}"
    role = PaintedRole(strip.roles[slot])
    words = f"{strip.name}, slot {slot}: {role.word}"
    if role is PaintedRole.UNWRITTEN:
        words += f" ({strip.fill})"
    if slot == strip.offset:
        words += ", the next write goes here"
    return words
