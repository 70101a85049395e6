"""What is remembered between two sessions, and what a damaged file does."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from kvstudio.app.settings import MOST_RECENT, Settings

DOCKS = ["setup", "log"]


def test_a_second_session_finds_what_the_first_left(tmp_path: Path) -> None:
    first = Settings()
    first.geometry = QByteArray(b"geometry")
    first.keep_layout(DOCKS, QByteArray(b"layout"))
    first.theme, first.volume, first.folder = "dark", 0.25, str(tmp_path)
    first.add_recent("recordings", tmp_path / "a.kvrec")
    first.remember("setup", {"text": "Größe „x“"})
    first.sync()
    second = Settings()
    assert (second.geometry.data(), second.layout(DOCKS).data()) == (b"geometry", b"layout")
    assert (second.theme, second.volume, second.folder) == ("dark", 0.25, str(tmp_path))
    assert second.recents("recordings") == [str(tmp_path / "a.kvrec")]
    assert second.remembered("setup") == {"text": "Größe „x“"}


def test_a_new_user_gets_defaults() -> None:
    settings = Settings()
    assert settings.layout(DOCKS).isEmpty()
    assert settings.theme == "system"
    assert settings.recents("voices") == []
    assert settings.remembered("setup") == {}
    assert Path(settings.folder).is_absolute()


def test_recents_are_unique_newest_first_and_few() -> None:
    settings = Settings()
    for number in range(MOST_RECENT + 3):
        settings.add_recent("voices", f"{number}.wav")
    settings.add_recent("voices", "5.wav")
    assert settings.recents("voices")[:3] == ["5.wav", "12.wav", "11.wav"]
    assert len(settings.recents("voices")) == MOST_RECENT
    settings.forget_recent("voices", "5.wav")
    assert "5.wav" not in settings.recents("voices")


def test_a_damaged_file_counts_as_never_set(tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "broken.ini"), QSettings.Format.IniFormat)
    for key in ("window/theme", "audio/volume", "recent/voices", "panel/setup", "window/layout"):
        store.setValue(key, "{broken")
    store.setValue("window/docks", " ".join(DOCKS))
    settings = Settings(store)
    assert (settings.theme, settings.volume) == ("system", 0.8)
    assert settings.recents("voices") == []
    assert settings.remembered("setup") == {}
    assert settings.layout(DOCKS).isEmpty()


def test_a_layout_of_other_docks_is_not_used() -> None:
    settings = Settings()
    settings.keep_layout(DOCKS, QByteArray(b"layout"))
    assert settings.layout([*DOCKS, "findings"]).isEmpty()
