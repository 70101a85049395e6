"""Fixtures that give a private sound server, for `pytest_plugins` of the modules that listen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.hearing import Event, Hear, Samples
from tests.app.pulse import SoundServer, perform, require_programs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SoundServer]:
    require_programs()
    server = SoundServer(tmp_path_factory.mktemp("pulse"))
    yield server
    server.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[SoundServer]:
    """A server that the test may break."""
    require_programs()
    server = SoundServer(tmp_path)
    yield server
    server.close()


@pytest.fixture
def hear(server: SoundServer, tmp_path: Path) -> Hear:
    """Perform some steps; gives what was heard and what the player said."""

    def hear(*steps: tuple[Any, ...]) -> tuple[Samples, list[Event]]:
        start = len(server.heard())
        events = perform(server.environment, tmp_path, *steps)
        return server.heard()[start:], events

    return hear
