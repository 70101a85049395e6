"""Edits are told of the moment before every frame, where the model can still be changed."""

import threading
from pathlib import Path

import numpy as np
import pytest

from kvstudio.engine.faults.moment import Moment
from kvstudio.engine.session import Session
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Floats
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.editing import At, nothing, run_edited
from tests.engine.running import session_with

SPEC = RunSpec(text="The cat sat down. The dog ran off.", max_tokens=20, temperature=0.7)


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(ModelSource(), "low")


def test_one_moment_a_frame(demo: Session, tmp_path: Path) -> None:
    edits = At(0, nothing)
    with run_edited(demo, SPEC, tmp_path / "run.kvrec", edits) as recording:
        assert [(m.frame, m.phase) for m in edits.moments] == [
            (frame.id, frame.phase) for frame in recording.frames[1:]
        ]
        firsts = [f.id for f in recording.frames if f.step == 0]
    for moment in edits.moments:
        # Mimi's state is made with the first latent of a chunk.
        assert (moment.mimi_state is None) == (moment.phase == "text" or moment.frame in firsts)


def test_the_live_state_before_the_expansion(demo: Session, tmp_path: Path) -> None:
    seen: list[tuple[int, str, bool]] = []

    def look(moment: Moment) -> None:
        cache = moment.state["transformer.layers.0.self_attn"]["cache"]
        in_caller = threading.current_thread() is threading.main_thread()
        seen.append((cache.shape[2], moment.phase, in_caller))

    for frame in (1, 2):
        run_edited(demo, SPEC, tmp_path / f"{frame}.kvrec", At(frame, look)).close()
    (text_slots, *text), (decode_slots, *decode) = seen
    assert (text, decode) == (["text", True], ["decode", False])
    assert text_slots < decode_slots


def test_an_edit_shows_in_its_frame_and_adds_no_op(demo: Session, tmp_path: Path) -> None:
    def poke(moment: Moment) -> None:
        moment.state["transformer.layers.0.self_attn"]["cache"][1, 0, 3] = 0.5

    with (
        run_edited(demo, SPEC, tmp_path / "plain.kvrec") as plain,
        run_edited(demo, SPEC, tmp_path / "poked.kvrec", At(4, poke)) as poked,
    ):
        assert [f.op_count for f in poked.frames[:5]] == [f.op_count for f in plain.frames[:5]]
        cache = poked.caches[0]
        assert poked.values(cache, 3).tobytes() == plain.values(cache, 3).tobytes()
        assert (poked.values(cache, 4)[1, 0, 3] == 0.5).all()
        same = [bool(np.array_equal(_latent(poked, f), _latent(plain, f))) for f in (3, 4)]
        assert same == [True, False]


@pytest.mark.parametrize("frame", [1, 4], ids=["before the text", "before a decode step"])
def test_an_edit_that_fails_is_the_frame_s_problem(
    demo: Session, tmp_path: Path, frame: int
) -> None:
    def fail(moment: Moment) -> None:
        raise ValueError("there is no such slot")

    with pytest.raises(ValueError, match="no such slot"):
        run_edited(demo, SPEC, tmp_path / "run.kvrec", At(frame, fail))
    with Recording.open(tmp_path / "run.kvrec") as recording:
        assert [f.problem for f in recording.frames if f.problem] == [
            "ValueError: there is no such slot"
        ]
        assert recording.frames[-1].id == frame


def _latent(recording: Recording, frame: int) -> Floats:
    latent = recording.latent(frame)
    assert latent is not None
    return latent
