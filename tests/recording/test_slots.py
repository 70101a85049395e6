"""What a slot holds after any frame, against a model that keeps every state whole."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvstudio.recording.errors import DamagedRecording
from kvstudio.recording.reader import Recording
from kvstudio.recording.roles import SlotRole
from kvstudio.recording.rows import (
    Base,
    Cache,
    CacheState,
    Chunk,
    Floats,
    Frame,
    FrameRecord,
    Phase,
    SlotDelta,
)
from kvstudio.recording.slots import SlotHistory, as_slots
from kvstudio.recording.spec import RunSpec
from kvstudio.recording.writer import RecordingWriter
from tests.fakes import FakeRun

HEADS, DIM = 1, 2
FLOW = {"model": "flow_lm", "name": "layers.0", "layer": 0, "context": None}
MIMI = {"model": "mimi", "name": "decoder_transformer.layers.0", "layer": 0, "context": 4}
SIZE = {"batch": 1, "heads": HEADS, "dim": DIM, "weight_dtype": "float32", "weight_device": "cpu"}
VOICE, TEXT, GENERATED = SlotRole.VOICE, SlotRole.TEXT, SlotRole.GENERATED


@dataclass(frozen=True)
class Wrote:
    """One frame: which slots of which cache it writes, and the capacity it leaves."""

    phase: Phase
    flow: list[tuple[int, int]]
    mimi: list[tuple[int, int]]
    capacity: int


@dataclass(frozen=True)
class Story:
    """One chunk; `resumes` the state of the chunk before instead of the voice's."""

    resumes: bool
    base: int
    frames: list[Wrote]


@dataclass
class Expected:
    """The whole of one cache, as a list per slot."""

    roles: dict[int, SlotRole] = field(default_factory=dict)
    frames: dict[int, int] = field(default_factory=dict)
    values: dict[int, Floats] = field(default_factory=dict)

    def write(self, first: int, role: SlotRole, frame: int, values: Floats) -> None:
        for place in range(values.shape[2]):
            self.roles[first + place] = role
            self.frames[first + place] = frame
            self.values[first + place] = values[:, :, place]


RANGES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 4)).map(lambda pair: (pair[0], sum(pair))),
    max_size=3,
)
STORIES = st.lists(
    st.builds(
        Story,
        resumes=st.booleans(),
        base=st.integers(0, 5),
        frames=st.lists(
            st.builds(
                Wrote,
                phase=st.sampled_from(["text", "decode"]),
                flow=RANGES,
                mimi=RANGES,
                capacity=st.integers(0, 12),
            ),
            max_size=3,
        ),
    ),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slots")


@settings(deadline=None, max_examples=60)
@given(stories=STORIES)
def test_slots_after_every_frame_are_those_of_a_model_that_keeps_all(
    folder: Path, stories: list[Story]
) -> None:
    path = folder / "story.kvrec"
    path.unlink(missing_ok=True)
    expected = list(_tell(path, stories))
    with Recording.open(path) as recording:
        assert len(recording.frames) == len(expected)
        for frame, (capacity, caches) in enumerate(expected):
            for found, wanted in zip(recording.slot_maps(frame), caches, strict=True):
                values = recording.values(found.cache, frame)
                assert found.capacity == capacity
                for slot in range(capacity):
                    assert found.roles[slot] == wanted.roles.get(slot, SlotRole.UNWRITTEN)
                    assert found.frames[slot] == wanted.frames.get(slot, -1)
                    here = wanted.values.get(slot, np.full((2, 1, HEADS, DIM), np.nan))
                    np.testing.assert_array_equal(values[:, :, slot], here)


def _tell(path: Path, stories: list[Story]) -> Iterator[tuple[int, list[Expected]]]:
    """Writes the stories and yields, for each frame, what every cache holds after it."""
    random = np.random.default_rng(1)
    writer = RecordingWriter(path, RunSpec(), {})
    caches = [writer.add_cache(**FLOW, **SIZE), writer.add_cache(**MIMI, **SIZE)]
    truth = [Expected(), Expected()]
    number = 0
    for chunk, story in enumerate(stories):
        resumes = story.resumes and chunk > 0
        truth = [truth[0] if resumes else Expected(), Expected()]
        values = _random(random, story.base)
        if not resumes:
            truth[0].write(0, VOICE, -1, values)
        base = Base(caches[0].id, story.base, None if resumes else values)
        writer.begin_chunk(_chunk(chunk, chunk - 1 if resumes else None), [base])
        for wrote in story.frames:
            deltas = []
            role = TEXT if wrote.phase == "text" else GENERATED
            for cache, there, ranges in zip(caches, truth, (wrote.flow, wrote.mimi), strict=True):
                for first, last in ranges:
                    delta = SlotDelta(cache.id, first, last, _random(random, last - first))
                    deltas.append(delta)
                    assert delta.values is not None
                    there.write(first, role, number, delta.values)
            states = [CacheState(cache.id, 0, wrote.capacity, 0) for cache in caches]
            frame = Frame(number, chunk, wrote.phase, -1, None, None, False, 0, 0, 0, 0)
            writer.add_frame(FrameRecord(frame, states, deltas))
            number += 1
            yield wrote.capacity, _copies(truth)
    writer.finish("finished")


def _copies(truth: list[Expected]) -> list[Expected]:
    return [Expected(dict(one.roles), dict(one.frames), dict(one.values)) for one in truth]


def _random(random: np.random.Generator, slots: int) -> Floats:
    return random.standard_normal((2, 1, slots, HEADS, DIM)).astype(np.float32)


def _chunk(number: int, continues: int | None) -> Chunk:
    return Chunk(number, "", (), 0, 0, 0, 0, 0, 0, continues, 1, 0.0)


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    return FakeRun(tmp_path / "a.kvrec")


def test_roles_of_a_run(run: FakeRun) -> None:
    run.run(3)
    with Recording.open(run.path) as recording:
        flow = recording.caches[0]
        after = {f: list(recording.slots(flow, f).roles) for f in range(5)}
    empty = [SlotRole.UNWRITTEN] * 12
    assert after[0] == [VOICE] * 5
    assert after[1] == [VOICE] * 5 + [TEXT] * 6 + empty
    assert after[3] == [VOICE] * 5 + [TEXT] * 6 + [GENERATED] * 2 + empty[2:]


def test_mimi_begins_afresh_with_every_chunk(run: FakeRun) -> None:
    run.begin_chunk()
    run.prefill()
    run.decode()
    run.begin_chunk("More.", continues=0)
    run.prefill()
    run.decode()
    run.writer.finish("finished")
    with Recording.open(run.path) as recording:
        flow, mimi = recording.caches[0], recording.caches[-1]
        last = len(recording.frames) - 1
        assert [chunk.id for chunk in recording.chain(last)] == [0, 1]
        assert list(recording.slots(flow, last).roles[:5]) == [VOICE] * 5
        assert list(recording.slots(flow, last).frames[11:13]) == [2, 3]
        assert set(recording.slots(mimi, last).frames) == {-1, last}


def test_a_cache_without_a_state_has_no_slots(run: FakeRun) -> None:
    run.run(2)
    with Recording.open(run.path) as recording:
        mimi = recording.caches[-1]
        before = recording.slots(mimi, 0)
        assert (before.capacity, before.offset) == (0, None)
        assert recording.values(mimi, 0).shape == (2, 1, 0, 2, 8)
        assert recording.slots(mimi, 2).offset == 4


def test_values_that_were_not_recorded_are_nan(run: FakeRun) -> None:
    run.begin_chunk()
    cache = run.flow[0]
    frame = Frame(1, 0, "text", -1, None, None, False, 0, 0, 0, 0)
    delta = SlotDelta(cache.id, 5, 8, None)
    run.writer.add_frame(FrameRecord(frame, [CacheState(cache.id, 8, 10, 0)], [delta]))
    run.writer.finish("finished")
    with Recording.open(run.path) as recording:
        assert recording.slots(cache, 1).written.sum() == 8
        assert np.isnan(recording.values(cache, 1)[:, :, 5:]).all()


def test_values_before_the_expansion(run: FakeRun) -> None:
    run.run(2)
    with Recording.open(run.path) as recording:
        before = recording.values_before_expansion(recording.caches[0], 0)
        assert before is not None
        assert before.shape == (2, 1, 5, 2, 8)
        np.testing.assert_array_equal(before, run.base[0])
        assert recording.values_before_expansion(recording.caches[-1], 0) is None


def test_a_frame_that_nobody_has_seen_yet_is_taken_in_later(run: FakeRun) -> None:
    run.run(2)
    connection = sqlite3.connect(run.path)
    history = SlotHistory(connection)
    history.refresh({0: 0, 1: 0})
    cache = run.flow[0]
    assert [write.frame for write in history.writes(cache, 0, 9)] == [1]
    history.refresh({0: 0, 1: 0, 2: 0, 3: 0})
    assert [write.frame for write in history.writes(cache, 0, 9)] == [1, 2, 3]
    assert [write.frame for write in history.writes(cache, 0, 2)] == [1, 2]
    connection.close()


def test_a_blob_of_another_size_is_refused() -> None:
    cache = Cache(0, "flow_lm", "layers.0", 0, 1, HEADS, DIM, None, "float32", "cpu")
    with pytest.raises(ValueError, match="reshape"):
        as_slots(cache, 3, b"\0" * 16)
    with pytest.raises(ValueError, match="claims -1 slots"):
        as_slots(cache, -1, b"")


def test_a_state_of_impossible_size_is_not_allocated(run: FakeRun) -> None:
    run.begin_chunk()
    frame = Frame(1, 0, "text", -1, None, None, False, 0, 0, 0, 0)
    run.writer.add_frame(FrameRecord(frame, [CacheState(0, 0, 10**12, 0)]))
    run.writer.finish("finished")
    with Recording.open(run.path) as recording:
        for ask in (recording.slots, recording.values):
            with pytest.raises(DamagedRecording, match="claims 1000000000000 slots"):
                ask(recording.caches[0], 1)


@pytest.mark.parametrize(
    ("role", "word"), [(VOICE, "voice"), (SlotRole.UNWRITTEN, "unwritten"), (TEXT, "text")]
)
def test_roles_have_words(role: SlotRole, word: str) -> None:
    assert role.word == word
