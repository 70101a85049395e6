"""Checks of recordings changed by hand: they end in words or in a report, never otherwise."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kvstudio.analysis.checker import Checker
from kvstudio.recording.errors import DamagedRecording
from kvstudio.recording.reader import Recording
from tests.analysis.checks.running import report_of
from tests.fakes import FakeRun
from tests.recording.reading import tamper
from tests.recording.test_hostile import VALUES, columns


@pytest.fixture(scope="module")
def sick(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A recording with something to find for most checks."""
    path = tmp_path_factory.mktemp("sick") / "run.kvrec"
    run = FakeRun(path, room=2, ops_per_frame=6)
    run.begin_chunk()
    run.prefill()
    run.decode()
    run.decode(nan=True)
    run.decode()
    run.writer.finish("finished")
    tamper(
        path,
        "UPDATE cache_state SET nan_slots = nan_slots + 1 WHERE frame = 3",
        "UPDATE expansion SET changed_slot = 1",
        "UPDATE tensor_state SET dtype = 'int8' WHERE tensor = 0",
        "UPDATE op SET nan_in = 0",
    )
    with Recording.open(path) as recording:
        checker = Checker(recording)
        checker.advance()
        kinds = {finding.kind for finding in checker.seen()}
    assert kinds > {"expansion-corrupt", "dropped-write", "dtype-mismatch", "nan-produced"}
    return path.read_bytes()


@pytest.mark.parametrize(("table", "column"), columns())
def test_anything_anywhere_ends_in_words_or_a_report(
    tmp_path: Path, sick: bytes, table: str, column: str
) -> None:
    path = tmp_path / "run.kvrec"
    for value in VALUES.values():
        path.write_bytes(sick)
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute(f'UPDATE {table} SET "{column}" = ?', (value,))
        except sqlite3.IntegrityError:
            continue
        try:
            report = report_of(path)
        except DamagedRecording:
            continue
        assert json.dumps(report.to_json())
