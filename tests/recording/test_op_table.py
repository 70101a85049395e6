"""A table of ops that is taken in piece by piece, while it can be asked already."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvstudio.recording.errors import DamagedRecording
from kvstudio.recording.reader import Recording
from tests.fakes import FakeRun
from tests.recording.reading import tamper

OPS_A_FRAME = 20
ALL = 3 * OPS_A_FRAME + 1  # the text prefill has one


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ops") / "run.kvrec"
    FakeRun(path, ops_per_frame=OPS_A_FRAME).run(3)
    return path


@pytest.fixture
def recording(path: Path) -> Iterator[Recording]:
    with Recording.open(path) as recording:
        yield recording


@given(most=st.integers(1, ALL + 5))
def test_pieces_add_up_to_the_whole(path: Path, most: int) -> None:
    with Recording.open(path) as whole, Recording.open(path) as pieces:
        assert not whole.ops.refresh()
        for _ in range(ALL // most + 1):
            if not pieces.ops.refresh(most):
                break
        for column in ("calls", "shapes", "frames", "flags"):
            np.testing.assert_array_equal(
                getattr(pieces.ops, column), getattr(whole.ops, column), column
            )


@pytest.mark.parametrize("most", [0, 5, OPS_A_FRAME + 5, ALL])
def test_a_frame_has_its_ops_however_many_are_taken_in(recording: Recording, most: int) -> None:
    if most:
        recording.ops.refresh(most)
    first = 1 + OPS_A_FRAME
    assert recording.ops.of_frame(0).tolist() == []
    assert recording.ops.of_frame(3).tolist() == list(range(first, first + OPS_A_FRAME))


def test_an_op_can_be_read_before_any_is_taken_in(recording: Recording) -> None:
    early = recording.ops.get(30)
    recording.ops.refresh()
    assert early == recording.ops.get(30)
    assert (early.id, early.frame, early.name) == (30, 3, "aten.matmul.default")


def test_ops_are_counted_without_being_taken_in(recording: Recording, tmp_path: Path) -> None:
    assert recording.ops.count() == ALL
    run = FakeRun(tmp_path / "empty.kvrec")
    with Recording.open(run.path) as empty:
        assert empty.ops.count() == 0
    run.writer.finish("stopped")


def test_the_touches_of_a_slot_can_be_followed(recording: Recording) -> None:
    touched = recording.ops.touching(0, 11, until_frame=9)
    assert touched
    assert all(touch.first <= 11 < touch.last for _, touch in touched)
    middle = touched[len(touched) // 2][0]
    later = [each for each in touched if each[0] > middle]
    assert recording.ops.touching(0, 11, until_frame=9, after=middle) == later


def test_what_a_frame_spent_its_time_on(recording: Recording) -> None:
    shares = recording.ops.shares(3)
    ops = [recording.ops.get(op) for op in recording.ops.of_frame(3)]
    assert {(each.part, each.op) for each in shares} == {(op.part, op.name) for op in ops}
    for each in shares:
        same = [op.took_ns for op in ops if (op.part, op.name) == (each.part, each.op)]
        assert (each.count, each.took_ns) == (len(same), sum(same))
    assert shares == sorted(shares, key=lambda each: (each.part, -each.took_ns))
    assert recording.ops.shares(0) == []


def test_there_is_no_op_past_the_last(recording: Recording) -> None:
    with pytest.raises(DamagedRecording, match="there is no op 61"):
        recording.ops.get(ALL)


@given(after=st.integers(0, ALL + 3), text=st.sampled_from(["", "copy", "-copy", "f32[1,12", "x"]))
def test_looking_on_from_an_id_finds_what_looking_at_all_finds(
    path: Path, after: int, text: str
) -> None:
    with Recording.open(path) as recording:
        recording.ops.refresh()
        everywhere = recording.ops.matching(text)
        later = recording.ops.matching(text, after=after)
        assert later.tolist() == [op for op in everywhere.tolist() if op >= after]


def test_a_frame_cannot_claim_more_ops_than_fit(tmp_path: Path) -> None:
    path = tmp_path / "run.kvrec"
    FakeRun(path).run(2)
    tamper(path, "UPDATE op SET id = 900000000000 WHERE id = 40")
    with Recording.open(path) as recording, pytest.raises(DamagedRecording, match="claims 8999"):
        recording.ops.of_frame(3)


def test_the_frames_of_ops_are_known_without_taking_them_in(recording: Recording) -> None:
    first, last = recording.ops.of_frame(3)[[0, -1]].tolist()
    assert recording.ops.frames_of([last, first - 1, first]) == [3, 2, 3]
