"""What every test gets: its own home and settings, no window left behind, models to load."""

import gc
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
import yaml

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication, QWidget

from kvstudio.paths import resources
from tests import kept, models
from tests.hub import Hub, publish

_OWN_FOLDERS = {
    "HOME": "",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "HF_HOME": ".cache/huggingface",
}
_PASSED = pytest.StashKey[bool]()


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new user's home folder: nobody's settings reach a test, no test's settings stay."""
    folder = tmp_path_factory.mktemp("home")
    for variable, below in _OWN_FOLDERS.items():
        monkeypatch.setenv(variable, str(folder / below))
    for form in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
        QSettings.setPath(form, QSettings.Scope.UserScope, str(folder / ".config"))
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


@pytest.fixture(autouse=True)
def no_window_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """A top-level widget that outlives a passed test fails it: the next test would meet it."""
    yield
    left = _windows()
    if not left:
        return
    named = ", ".join(sorted(_described(widget) for widget in left))
    for widget in left:
        widget.close()
        widget.deleteLater()
    del left
    _delete_later_now()
    if request.node.stash.get(_PASSED, False):
        pytest.fail(f"left alive: {named}. Close it, or hand it to qtbot.addWidget.")


def _windows() -> list[QWidget]:
    if QApplication.instance() is None:
        return []
    _delete_later_now()
    if QApplication.topLevelWidgets():
        gc.collect()  # a reference cycle alone is not a leak
        _delete_later_now()
    return QApplication.topLevelWidgets()


def _delete_later_now() -> None:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _described(widget: QWidget) -> str:
    name = widget.objectName() or widget.windowTitle()
    return f"{type(widget).__name__} {name!r}" if name else type(widget).__name__


@pytest.fixture(scope="session")
def demo_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded demo model's config with absolute paths, as pocket-tts needs it anywhere."""
    demo = resources() / "demo"
    config = yaml.safe_load((demo / "config.yaml").read_text(encoding="utf-8"))
    table = config["flow_lm"]["lookup_table"]
    config["weights_path"] = str(demo / config["weights_path"])
    table["tokenizer_path"] = str(demo / table["tokenizer_path"])
    path = tmp_path_factory.mktemp("demo") / "config.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def demo_voice() -> Path:
    return resources() / "demo" / "voices" / "low.wav"


@pytest.fixture(scope="session")
def tiny_config() -> Path:
    """Three layers, 48 wide, random weights, never ends by itself: loads in no time."""
    return kept.model(models.TINY)


@pytest.fixture(scope="session")
def tiny_grouped_config() -> Path:
    """`tiny_config` with one key/value head shared by three query heads."""
    return kept.model(models.TINY_GROUPED)


@pytest.fixture(scope="session")
def english_config() -> Path:
    """The full-size `english` architecture with random weights (420 MB)."""
    return kept.model(models.ENGLISH)


@pytest.fixture(scope="session")
def english_24l_config() -> Path:
    """The 24-layer English architecture with random weights (1.3 GB); for slow tests."""
    return kept.model(models.ENGLISH_24L)


@pytest.fixture(scope="session")
def english_2m_config() -> Path:
    """The grouped-query architecture of two million parameters with random weights (45 MB)."""
    return kept.model(models.ENGLISH_2M)


@pytest.fixture(scope="session")
def release() -> Callable[[str], kept.Release]:
    """`release("2.1.0")`: that pocket-tts in an environment of its own; for slow tests."""
    return kept.release


@pytest.fixture
def hub(home: Path) -> Iterator[Hub]:
    """A hub on loopback with all that `english_2m_2026-10` names, and the voice `alba` for it."""
    with Hub(home) as serving:
        publish(serving, models.ENGLISH_2M, kept.model(models.ENGLISH_2M).parent)
        yield serving
