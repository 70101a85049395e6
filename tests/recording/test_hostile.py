"""Recordings changed by hand: whatever stands where, reading ends in words or succeeds."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kvstudio.recording import schema
from kvstudio.recording.errors import DamagedRecording
from kvstudio.recording.opening import TABLES
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun
from tests.recording.reading import error_of, read_everything, tamper


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "run.kvrec"
    FakeRun(path, ops_per_frame=6).run(3)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    path = tmp_path / "run.kvrec"
    path.write_bytes(whole)
    return path


def columns() -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.TABLES)
        return [
            (table, column)
            for table in sorted(TABLES)
            for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        ]


VALUES = {
    "text": "x",
    "number": 10**12,
    "negative": -3,
    "least": -(2**63),
    "fraction": 0.5,
    "infinite": float("inf"),
    "blob": b"\xff\x00\x01",
    "empty": b"",
    "bad-json": "[[1]]",
    "deep-json": "[" * 100_000,
    "surrogate": '"\\udce9"',
    "nothing": None,
}


@pytest.mark.parametrize(("table", "column"), columns())
def test_anything_anywhere_ends_in_words_or_is_read(
    path: Path, whole: bytes, table: str, column: str
) -> None:
    for value in VALUES.values():
        path.write_bytes(whole)
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute(
                    f'UPDATE OR REPLACE {table} SET "{column}" = ? '
                    f'WHERE "{column}" = (SELECT max("{column}") FROM {table})',
                    (value,),
                )
        except sqlite3.IntegrityError:
            continue  # SQLite itself refuses
        error = error_of(path)
        assert error is None or isinstance(error, DamagedRecording)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DELETE FROM meta WHERE key = 'spec'", "'spec' is missing"),
        ("DELETE FROM meta WHERE key = 'versions'", "versions"),
        ("UPDATE meta SET value = '\"done\"' WHERE key = 'status'", "status is 'done'"),
        ("UPDATE meta SET value = '\"one\"' WHERE key = 'pid'", "pid is 'one'"),
        ("UPDATE meta SET value = '[]' WHERE key = 'versions'", "versions is []"),
        ("UPDATE meta SET value = '0' WHERE key = 'sample_rate'", "rates must be more than 0"),
        ("UPDATE meta SET value = '{}' WHERE key = 'spec'", None),
        ("UPDATE meta SET value = '{\"x\": 1}' WHERE key = 'spec'", "no run spec to read"),
        ("UPDATE frame SET step = 'two' WHERE id = 2", "step of Frame is 'two'"),
        ("UPDATE frame SET phase = 'sing' WHERE id = 2", "phase is 'sing'"),
        ("UPDATE frame SET stop_logit = 'x' WHERE id = 2", "stop_logit of Frame is 'x'"),
        ("UPDATE frame SET stop_logit = 'nan'", None),
        ("UPDATE frame SET chunk = 7 WHERE id = 2", "frame 2 is of chunk 7"),
        ("UPDATE frame SET chunk = -1 WHERE id = 0", "frame 0 is of chunk -1"),
        ("DELETE FROM frame WHERE id = 1", "frame 2 is out of order"),
        ("UPDATE chunk SET continues = 0", "chunk 0 is out of order"),
        ("UPDATE chunk SET continues = -5", "chunk 0 is out of order"),
        ("UPDATE chunk SET id = 1", "chunk 1 is out of order"),
        ("UPDATE chunk SET tokens = '[1]'", "is damaged"),
        ("UPDATE cache SET id = 9 WHERE id = 2", "cache 9 is out of order"),
        ("UPDATE cache SET heads = 0", "cache 0 has no size"),
        ("UPDATE cache SET dim = -8, heads = -2", "cache 0 has no size"),
        ("UPDATE cache_state SET capacity = 1000000000000", "claims 1000000000000 slots"),
        ("UPDATE cache_state SET capacity = -1", "claims -1 slots"),
        ("UPDATE cache_state SET capacity = 3", None),
        ("UPDATE slot_delta SET first = -2", "writes slots -2 to"),
        ("UPDATE slot_delta SET last = first - 1", "frame 1 writes slots"),
        ("UPDATE slot_delta SET worst = 7", "frame 1 writes slots"),
        ("UPDATE slot_delta SET first = first + 1", "cannot reshape"),
        ("UPDATE slot_delta SET frame = 99", None),
        ("UPDATE slot_delta SET cache = 99", None),
        ("UPDATE slot_delta SET \"values\" = 'text'", "bytes-like"),
        ("UPDATE snapshot SET slots = 1000000000000", "claims 1000000000000 slots"),
        ("UPDATE chunk_base SET offset = -4", None),
        ("UPDATE audio SET samples = x'00'", "multiple of element size"),
        ('UPDATE latent SET "values" = 7', "bytes-like"),
        ("DELETE FROM op WHERE id = 3", "ops are missing"),
        ("DELETE FROM site", "an op has no text"),
        ("DELETE FROM call WHERE id = 0", "an op has no text"),
        ("DELETE FROM thread", "is missing"),
        ("UPDATE op SET call = 99", "an op has no text"),
        ("UPDATE op SET call = 'x'", "an op has a text where a number belongs"),
        ("UPDATE op SET shapes = -1", "an op has no text"),
        ("UPDATE op SET frame = 5000000000", "an op has no frame"),
        ("UPDATE op SET frame = 9 - id", "ops are not in the order of their frames"),
        ("UPDATE op SET nan_in = 77", "an op has impossible numbers"),
        ("UPDATE op SET took_ns = 'long'", "took_ns of OpColumns is 'long'"),
        ("UPDATE touch SET first = 'a'", "first of Touch is 'a'"),
        ("DROP TABLE audio", "there is no table audio"),
        ("ALTER TABLE frame ADD COLUMN more", "Frame has 13 columns instead of 12"),
        ("ALTER TABLE audio ADD COLUMN more", "too many values"),
        ("UPDATE log SET stream = 5", None),
        ("CREATE TABLE notes (mine)", None),
        ("CREATE VIEW slow AS SELECT * FROM op, op, op", None),
    ],
)
def test_what_is_wrong_is_said(path: Path, statement: str, says: str | None) -> None:
    tamper(path, statement)
    error = error_of(path)
    if says is None:
        assert error is None
    else:
        assert isinstance(error, DamagedRecording)
        assert says in str(error)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize("table", ["meta", "frame", "op", "audio"])
def test_a_view_named_like_a_table_is_never_asked(path: Path, table: str) -> None:
    tamper(path, f"DROP TABLE {table}", f"CREATE VIEW {table} AS {ENDLESS}")
    assert f"there is no table {table}" in str(error_of(path))


def test_a_virtual_table_is_never_asked(path: Path) -> None:
    tamper(path, "DROP TABLE log", "CREATE VIRTUAL TABLE log USING fts5(at, stream, text)")
    assert "there is no table log" in str(error_of(path))


def test_a_trigger_does_not_fire(path: Path) -> None:
    tamper(path, "CREATE TRIGGER bait AFTER INSERT ON frame BEGIN DELETE FROM audio; END")
    assert read_everything(path) == 5
    with Recording.open(path) as recording:
        recording.settle()
        assert len(recording.audio())


def test_a_recording_cannot_be_changed_through_its_reader(path: Path) -> None:
    with Recording.open(path) as recording, pytest.raises(DamagedRecording, match="readonly"):
        recording._rows("DELETE FROM audio")
