"""The few small pictures a style sheet needs (arrows, ticks), as vectors in the palette's colours.

A style sheet can only name pictures by path, so they are packed into a Qt resource in memory:
`:/kvstudio/dark/tick.svg` exists without any file. The packing follows version 1 of the format
that Qt's `rcc` writes: a tree of names sorted by hash, the names, the contents.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from PySide6.QtCore import QFile, QResource

if TYPE_CHECKING:
    from kvstudio.app.theme import Palette

_DIRECTORY = 2
_ANY_LANGUAGE = 1

_STROKES = {  # name -> (path in a 16 x 16 box, colour of the palette)
    "down": ("M4.5 6.5 L8 10 L11.5 6.5", "muted_text"),
    "down_disabled": ("M4.5 6.5 L8 10 L11.5 6.5", "disabled_text"),
    "up": ("M4.5 9.5 L8 6 L11.5 9.5", "muted_text"),
    "up_disabled": ("M4.5 9.5 L8 6 L11.5 9.5", "disabled_text"),
    "right": ("M6.5 4.5 L10 8 L6.5 11.5", "muted_text"),
    "left": ("M9.5 4.5 L6 8 L9.5 11.5", "muted_text"),
    "tick": ("M3.8 8.4 L6.8 11.2 L12.2 5", "on_accent"),
    "tick_menu": ("M3.8 8.4 L6.8 11.2 L12.2 5", "text"),
    "tick_disabled": ("M3.8 8.4 L6.8 11.2 L12.2 5", "disabled_text"),
    "dash": ("M4.5 8 L11.5 8", "on_accent"),
    "close": ("M3 3 L13 13 M13 3 L3 13", "muted_text"),
    "float": ("M2.5 5.5 H10.5 V13.5 H2.5 Z M5.5 2.5 H13.5 V10.5", "muted_text"),
}


def register_pictures(palette: Palette) -> str:
    """Make the pictures known to Qt, once per palette; returns the folder to name in a sheet."""
    folder = "dark" if palette.is_dark else "light"
    root = f":/kvstudio/{folder}"
    if not QFile.exists(f"{root}/tick.svg"):
        pictures = {f"{name}.svg": _svg(name, palette) for name in _STROKES}
        if not QResource.registerResourceData(_kept(_pack(pictures)), f"/kvstudio/{folder}"):
            raise RuntimeError("Qt does not accept the packed pictures of the style sheet")
    return root


def _svg(name: str, palette: Palette) -> bytes:
    path, color = _STROKES[name]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">'
        f'<path d="{path}" fill="none" stroke="{getattr(palette, color)}" stroke-width="1.6" '
        'stroke-linecap="round" stroke-linejoin="round"/></svg>'
    ).encode()


_REGISTERED: list[bytes] = []


def _kept(resource: bytes) -> bytes:
    """Qt reads a registered resource where it lies; it must outlive the application."""
    _REGISTERED.append(resource)
    return resource


def _pack(files: dict[str, bytes]) -> bytes:
    """Pack one flat folder of files."""
    ordered = sorted(files, key=_name_hash)
    tree = struct.pack(">IHII", 0, _DIRECTORY, len(ordered), 1)
    names = contents = b""
    for name in ordered:
        tree += struct.pack(">IHHHI", len(names), 0, 0, _ANY_LANGUAGE, len(contents))
        names += struct.pack(">HI", len(name), _name_hash(name)) + name.encode("utf-16-be")
        contents += struct.pack(">I", len(files[name])) + files[name]
    header = 20
    at_names = header + len(tree)
    at_contents = at_names + len(names)
    return (
        b"qres" + struct.pack(">IIII", 1, header, at_contents, at_names) + tree + names + contents
    )


def _name_hash(name: str) -> int:
    """The hash by which Qt looks a resource up."""
    value = 0
    for letter in name:
        value = (value << 4) + ord(letter)
        value ^= (value & 0xF0000000) >> 23
        value &= 0x0FFFFFFF
    return value
