"""The ops panel with a million ops: right, and timed.

The times are not judged; `-m slow --log-cli-level=INFO` shows them.
"""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from kvstudio.app.panels.ops import OpsPanel
from kvstudio.app.workspace import Workspace
from tests.fakes import FILE, FakeRun

OPS = 1_000_000
OPS_A_FRAME = 1_000
CALLS = 3_000
SHAPES = 5_000
LOG = logging.getLogger(__name__)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Behind the frames of a small run, a thousand frames of a thousand ops."""
    path = tmp_path_factory.mktemp("many") / "run.kvrec"
    FakeRun(path, layers=24).run(2)
    with closing(sqlite3.connect(path)) as connection:
        _add_ops(connection)
        connection.commit()
    return path


def _add_ops(connection: sqlite3.Connection) -> None:
    frame, op, call, shapes = (
        connection.execute(f"SELECT max(id) + 1 FROM {table}").fetchone()[0]
        for table in ("frame", "op", "call", "shapes")
    )
    add = connection.executemany
    add(
        "INSERT INTO call VALUES (?, ?, ?, ?)",
        (
            (call + n, f"aten.op_{n % 60}.default", n % 5, f"flow_lm.layers.{n % 24}.part{n // 24}")
            for n in range(CALLS)
        ),
    )
    add(
        "INSERT INTO shapes VALUES (?, ?, ?)",
        ((shapes + n, f"f32[1,{n},16,64], i64[1]", f"f32[1,{n}]") for n in range(SHAPES)),
    )
    add(
        "INSERT INTO frame VALUES (?, 0, 'decode', ?, NULL, NULL, 0, ?, 1, 1, ?, NULL)",
        ((frame + n, n, OPS_A_FRAME, n) for n in range(OPS // OPS_A_FRAME)),
    )
    add(
        "INSERT INTO op VALUES (?, ?, 2, ?, ?, 0, ?, ?, 0, ?)",
        (
            (op + n, frame + n // OPS_A_FRAME, call + n % CALLS, shapes + n % SHAPES,
             n * 1000, 500 + n % 997, int(n % 5000 == 1))
            for n in range(OPS)
        ),
    )  # fmt: skip


@pytest.fixture
def panel(qtbot: QtBot, many: Path) -> Iterator[OpsPanel]:
    workspace = Workspace()
    panel = OpsPanel(workspace)
    qtbot.addWidget(panel)
    assert workspace.open(many)
    panel.resize(900, 500)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    workspace.close()


def timed(name: str, action: Callable[[], object]) -> None:
    began = time.perf_counter()
    action()
    LOG.info("%s: %.1f ms", name, (time.perf_counter() - began) * 1000)


@pytest.mark.slow
def test_a_million_ops(panel: OpsPanel, qtbot: QtBot) -> None:
    workspace, table, model = panel.workspace, panel.table, panel.model
    assert workspace.recording is not None
    recording = workspace.recording
    total = recording.ops.count()
    assert total > OPS

    def all_frames() -> None:
        panel.bar.choose("all")
        table.grab()

    timed("all frames and paint", all_frames)
    assert model.rowCount() == total

    def jump() -> None:
        workspace.move(frame=300, op=total - OPS_A_FRAME // 2)
        panel.refresh_now()
        table.grab()

    timed("jump and paint", jump)
    assert table.currentIndex().row() == total - OPS_A_FRAME // 2
    assert panel.details.source.path.text().startswith(FILE)

    def type_filter(text: str) -> None:
        panel.bar.filter.setText(text)
        panel.bar.filter.settle()
        table.grab()

    type_filter("op_7")
    qtbot.waitUntil(lambda: len(recording.ops) == total, timeout=60_000)
    for text, count in (("op_8.", OPS // 60), ("nan", OPS // 5000), ("-aten", 0)):
        timed(f"filter {text}", lambda text=text: type_filter(text))  # type: ignore[misc]
        assert abs(model.rowCount() - count) <= 60
