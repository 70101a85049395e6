"""A map made from columns is the map made write by write."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvstudio.recording.filling import Filling
from kvstudio.recording.reader import Recording
from kvstudio.recording.roles import SlotRole
from kvstudio.recording.slots import Write
from tests.fakes import FakeRun

CAPACITY = 40
PHASES = {frame: "text" if frame % 3 == 0 else "decode" for frame in range(30)}


Columns = tuple[list[int], list[int], list[int]]


def one_by_one(writes: list[Write], frame: int) -> Columns:
    roles, frames, worst = [0] * CAPACITY, [-1] * CAPACITY, [0] * CAPACITY
    for write in writes:
        for slot in range(write.first, min(write.last, CAPACITY)):
            if write.frame <= frame:
                text = PHASES[write.frame] == "text"
                roles[slot] = SlotRole.TEXT if text else SlotRole.GENERATED
                frames[slot] = write.frame
                worst[slot] = write.worst
    return roles, frames, worst


def applied(filling: Filling, frame: int) -> Columns:
    roles, frames = np.zeros(CAPACITY, np.uint8), np.full(CAPACITY, -1, np.int32)
    worst = np.zeros(CAPACITY, np.uint8)
    filling.apply(frame, roles, frames, worst)
    return roles.tolist(), frames.tolist(), worst.tolist()


@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=29),
    frame=st.integers(-1, 30),
    halfway=st.integers(0, 29),
)
def test_columns_say_what_the_writes_say(sizes: list[int], frame: int, halfway: int) -> None:
    ends = np.cumsum(sizes).tolist()
    writes = [
        Write(n, 0, end - size, end, n % 3)
        for n, (size, end) in enumerate(zip(sizes, ends, strict=True))
    ]
    filling = Filling(most_slots=1000)
    filling.take(writes[:halfway], PHASES)
    filling.take(writes, PHASES)
    assert filling.is_plain
    assert applied(filling, frame) == one_by_one(writes, frame)


@pytest.mark.parametrize(
    "again", [Write(2, 0, 3, 4), Write(2, 0, 0, 2000)], ids=["overwrites", "past any cache"]
)
def test_what_columns_cannot_say_they_leave_to_the_loop(again: Write) -> None:
    filling = Filling(most_slots=1000)
    filling.take([Write(1, 0, 0, 5), again], PHASES)
    assert not filling.is_plain


def test_writes_and_their_values_can_be_read_for_a_few_frames(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run(frames=4)
    with Recording.open(run.path) as recording:
        layer, codec = recording.caches[1], recording.caches[2]
        assert [(w.frame, w.first, w.last) for w in recording.writes(layer, 3)] == [
            (1, 5, 11),
            (2, 11, 12),
            (3, 12, 13),
        ]
        found = recording.written_values(codec, 3, 4)
        assert [(w.frame, w.first, w.last) for w, _ in found] == [(3, 4, 8), (4, 8, 12)]
        whole = recording.values(codec, 5)
        assert np.array_equal(found[1][1], whole[:, :, 8:12])
