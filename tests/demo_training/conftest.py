"""The training package lies beside the model it makes, not installed: it is imported from there."""

import importlib
from types import ModuleType

import pytest

from kvstudio.paths import resources
from tests.demo_training.parts import Part


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Part:
    """`part("latents")`: that module of the training package."""
    monkeypatch.syspath_prepend(resources() / "demo")

    def open_part(name: str) -> ModuleType:
        return importlib.import_module(f"train.{name}")

    return open_part
