"""What the window remembers from one session to the next."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

MOST_RECENT = 10


class Settings:
    """Reads and writes the settings file; what is damaged counts as never set.

    Args:
        store: where to keep them; by default the user's own settings file.
    """

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "KVStudio", "KVStudio"
        )

    # ---- the window ---------------------------------------------------------------------------

    @property
    def geometry(self) -> QByteArray:
        return self._bytes("window/geometry")

    @geometry.setter
    def geometry(self, geometry: QByteArray) -> None:
        self._store.setValue("window/geometry", geometry)

    def layout(self, docks: Iterable[str]) -> QByteArray:
        """The places of exactly these docks; empty if none were kept, or those of other docks."""
        if self._store.value("window/docks", "") != " ".join(docks):
            return QByteArray()
        return self._bytes("window/layout")

    def keep_layout(self, docks: Iterable[str], layout: QByteArray) -> None:
        self._store.setValue("window/docks", " ".join(docks))
        self._store.setValue("window/layout", layout)

    @property
    def theme(self) -> str:
        """system, light or dark."""
        theme = str(self._store.value("window/theme", "system"))
        return theme if theme in ("system", "light", "dark") else "system"

    @theme.setter
    def theme(self, theme: str) -> None:
        self._store.setValue("window/theme", theme)

    @property
    def volume(self) -> float:
        """Playback volume from 0 to 1."""
        return max(0.0, min(self._number("audio/volume", 0.8), 1.0))

    @volume.setter
    def volume(self, volume: float) -> None:
        self._store.setValue("audio/volume", volume)

    @property
    def folder(self) -> str:
        """The folder that the last file dialog ended in."""
        folder = str(self._store.value("window/folder", ""))
        return folder if folder and Path(folder).is_dir() else str(Path.home())

    @folder.setter
    def folder(self, folder: str | Path) -> None:
        self._store.setValue("window/folder", str(folder))

    # ---- recent files -------------------------------------------------------------------------

    def recents(self, kind: str) -> list[str]:
        """The files of a kind (`recordings`, `voices`, `models`) used last, newest first."""
        found = self._json(f"recent/{kind}")
        return [str(each) for each in found] if isinstance(found, list) else []

    def add_recent(self, kind: str, path: str | Path) -> None:
        others = [each for each in self.recents(kind) if each != str(path)]
        self._set_json(f"recent/{kind}", [str(path), *others][:MOST_RECENT])

    def forget_recent(self, kind: str, path: str | Path) -> None:
        kept = [each for each in self.recents(kind) if each != str(path)]
        self._set_json(f"recent/{kind}", kept)

    # ---- what panels remember -----------------------------------------------------------------

    def remembered(self, key: str) -> dict[str, Any]:
        """What was kept under a key, such as a panel's; empty if nothing was."""
        found = self._json(f"panel/{key}")
        return found if isinstance(found, dict) else {}

    def remember(self, key: str, facts: dict[str, Any]) -> None:
        self._set_json(f"panel/{key}", facts)

    def sync(self) -> None:
        """Writes to disk now rather than some time."""
        self._store.sync()

    # ---- private ------------------------------------------------------------------------------

    def _bytes(self, key: str) -> QByteArray:
        found = self._store.value(key)
        return found if isinstance(found, QByteArray) else QByteArray()

    def _number(self, key: str, default: float) -> float:
        try:
            return float(str(self._store.value(key, default)))
        except ValueError:
            return default

    def _json(self, key: str) -> object:
        try:
            return json.loads(str(self._store.value(key, "null")))
        except ValueError:
            return None

    def _set_json(self, key: str, value: object) -> None:
        self._store.setValue(key, json.dumps(value, ensure_ascii=False))
