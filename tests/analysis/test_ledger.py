"""The sum that sizes the caches, against what they became."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvstudio.analysis.ledger import LedgerRow, ledger
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Chunk
from tests.fakes import FakeRun
from tests.recording.reading import tamper


def rows_of(path: Path, frame: int | None) -> list[LedgerRow]:
    with Recording.open(path) as recording:
        return ledger(recording, frame)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Five voice slots, six of text, eight frames of at most twelve."""
    path = tmp_path / "run.kvrec"
    FakeRun(path).run(8)
    return path


@pytest.mark.parametrize(
    ("frame", "used", "capacity", "frames"),
    [(None, None, 23, 0), (0, 5, 5, 0), (1, 11, 23, 0), (2, 12, 23, 1), (9, 19, 23, 8)],
    ids=["no frame", "voice", "text", "first step", "last step"],
)
def test_a_healthy_chunk(
    whole: Path, frame: int | None, used: int | None, capacity: int, frames: int
) -> None:
    (row,) = rows_of(whole, frame)
    assert row.begun
    assert row.expanded == (frame is not None and frame > 0)
    assert row.passed
    assert row.total == row.chunk.required_len == 23
    assert (row.used, row.capacity, row.frames) == (used, capacity, frames)
    assert row.left == (None if used is None else capacity - used)


def test_a_chunk_that_waits_for_its_prefill_has_not_failed_yet(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    tamper(run.path, "UPDATE chunk SET capacity_after = capacity_before")
    (row,) = rows_of(run.path, 0)
    assert not row.begun
    assert row.passed
    run.writer.finish("stopped")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE chunk SET required_len = 21", "the sum is 23, but required_len is 21"),
        (
            "UPDATE chunk SET capacity_after = 20",
            "capacity is 20 after the expansion, 3 short of the 23 the chunk may need",
        ),
        (
            "UPDATE cache_state SET offset = 24 WHERE frame = 3 AND cache = 1",
            "the offset 24 of layer 1 is past the capacity 23",
        ),
        (
            "UPDATE chunk SET required_len = 20, capacity_before = 20, capacity_after = 20",
            "capacity is 20 after the expansion, 3 short of the 23 the chunk may need",
        ),
    ],
    ids=["sum", "capacity", "offset", "no length asked for"],
)
def test_what_does_not_add_up_is_said(whole: Path, statement: str, words: str) -> None:
    tamper(whole, statement)
    (row,) = rows_of(whole, 3)
    assert row.problems == (words,)
    assert not row.passed


def test_a_model_that_never_asks_for_a_length_passes_with_room_enough(whole: Path) -> None:
    tamper(whole, "UPDATE chunk SET required_len=99, capacity_before=99, capacity_after=99")
    (row,) = rows_of(whole, 3)
    assert row.passed


def test_an_offset_past_the_capacity_leaves_less_than_nothing(whole: Path) -> None:
    tamper(whole, "UPDATE cache_state SET offset = 25 WHERE frame = 3")
    (row,) = rows_of(whole, 3)
    assert row.left == -2


def test_a_later_chunk_has_no_slots_in_use_yet(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    for _ in range(2):
        run.begin_chunk()
        run.prefill()
        run.decode()
    run.writer.finish("finished")
    first, second = rows_of(run.path, 2)
    assert (first.used, first.frames) == (12, 1)
    assert (second.used, second.frames, second.capacity) == (None, 0, 23)
    first, second = rows_of(run.path, 4)
    assert (first.used, second.used, second.frames) == (12, 12, 1)


@given(
    end=st.integers(10, 500), tokens=st.integers(0, 500), frames=st.integers(0, 500),
    off=st.integers(-3, 3), short=st.integers(-3, 3),
)  # fmt: skip
def test_the_verdict_follows_the_numbers(
    end: int, tokens: int, frames: int, off: int, short: int
) -> None:
    total = end + tokens + frames
    required = total + off
    after = required - short
    chunk = Chunk(0, "", (), end, tokens, frames, required, 1, after, None, 1, 0.0)
    recording = _OneChunk(chunk)
    (row,) = ledger(recording, None)  # type: ignore[arg-type]  # as much of one as it asks for
    assert row.passed == (off == 0 and after >= max(total, required))
    assert len(row.problems) == (off != 0) + (after < max(total, required))


class _OneChunk:
    """A recording of one chunk that has had its text prefill."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunks = [chunk]
        self.caches: list[object] = []
        self.frames = [_Prefill()]


class _Prefill:
    id, chunk, phase = 0, 0, "text"
