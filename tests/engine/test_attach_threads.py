"""Several threads on one model: nothing hangs, and what each of them did can be told."""

import copy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts import TTSModel

import kvstudio
from kvstudio.engine.state import ModelState
from kvstudio.engine.turns import Turns
from kvstudio.recording.reader import Recording
from tests.engine.scripts import (
    demo_model,
    in_one_thread,
    prefilled,
    steps,
    untouched,
    voice,
)

PATIENCE_S = 60


@pytest.fixture(scope="module")
def tts() -> Any:  # noqa: ANN401
    tts = demo_model()
    tts._GEN_SECONDS_PADDING = 0.1  # what never ends by itself ends soon
    return tts


@pytest.fixture(scope="module")
def low(tts: TTSModel) -> ModelState:
    state: ModelState = voice(tts)
    return state


def together(*works: Callable[[], object]) -> list[object]:
    """What each returns, run at once in threads of their own."""
    results: dict[int, object] = {}

    def work(number: int) -> None:
        results[number] = works[number]()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    return [results[number] for number in range(len(works))]


def test_two_generations_at_once(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """Each has a chunk whose frames lie together, and the audio that its caller got."""
    texts = ("Hello.", "Good day.")
    expected = [tts.generate_audio(low, text) for text in texts]
    with untouched(tts), kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        heard = together(*(lambda text=text: tts.generate_audio(low, text) for text in texts))
    # The demo speaks at temperature 0, so the order of the threads does not matter.
    assert all(map(torch.equal, heard, expected))  # type: ignore[arg-type]
    with Recording.open(path) as recording:
        assert len(recording.chunks) == 2
        own = {chunk.text: b"" for chunk in recording.chunks}
        for frame, _, samples in recording.audio_frames():
            own[recording.chunks[recording.frames[frame].chunk].text] += samples.tobytes()
        assert own == {
            text.lower(): audio.numpy().tobytes()
            for text, audio in zip(texts, expected, strict=True)
        }
    assert not {finding.kind for finding in kvstudio.check(path).findings} - {
        "length-cut",
        "no-eos",
    }


def test_two_generations_on_one_state(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    state = copy.deepcopy(low)
    with untouched(tts), kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        together(
            lambda: tts.generate_audio(state, "Hello.", copy_state=False),
            lambda: tts.generate_audio(state, "Good day.", copy_state=False),
        )
    report = kvstudio.check(path)
    assert "shared-state" in {finding.kind for finding in report.findings}
    with Recording.open(path) as recording:
        assert recording.chunks[1].continues == 0
        ops = [recording.ops.get(int(recording.ops.of_frame(n)[0])) for n in range(3, 11)]
        assert len({op.thread for op in ops}) >= 2


def test_two_threads_that_wait_for_each_other(
    tts: TTSModel, low: ModelState, tmp_path: Path
) -> None:
    """A script may let its threads step by turns: then neither chunk can wait for the other."""
    meeting = threading.Barrier(2, timeout=PATIENCE_S)

    def work() -> int:
        state = prefilled(tts, low, frames=2)
        return sum(meeting.wait() >= 0 for _ in steps(tts, state, 2))

    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        assert together(work, work) == [2, 2]
    with Recording.open(path) as recording:
        assert sum(frame.phase == "decode" for frame in recording.frames) == 4
    assert kvstudio.check(path).verdict == "clean"


def test_steps_handed_from_thread_to_thread(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """One after the other they drive one state, as the threads of a pool do."""
    latents = steps(tts, prefilled(tts, low, frames=3), 3)
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        for _ in range(3):
            together(lambda: next(latents))
    with Recording.open(path) as recording:
        assert [frame.chunk for frame in recording.frames] == [0, 0, 0, 0]
    assert kvstudio.check(path).verdict == "clean"


# ---- turns -------------------------------------------------------------------------------------


def test_a_turn_ends_with_its_chunk() -> None:
    turns, entered = Turns(), threading.Event()

    def other() -> None:
        with turns.turn("b", generating=True):
            entered.set()

    with turns.turn("a", generating=True):
        pass
    thread = threading.Thread(target=other)
    thread.start()
    assert not entered.wait(0.2)
    turns.give_up("a")
    assert entered.wait(PATIENCE_S)
    thread.join()


@pytest.mark.parametrize("generating", [False, True])
def test_a_chunk_that_is_left_as_it_is_keeps_nobody_waiting(*, generating: bool) -> None:
    turns = Turns()
    together(lambda: turns.turn("a", generating=generating).__enter__().__class__)
    turns.end()
    with turns.turn("b", generating=False):
        pass


def test_one_thread_takes_turns_with_itself() -> None:
    turns = Turns()
    for holder in ("a", "b", "a"):
        with turns.turn(holder, generating=False):
            pass


def test_a_block_that_ends_in_the_midst_of_a_long_step(
    tts: TTSModel, low: ModelState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recording does not claim to be whole."""
    monkeypatch.setattr("kvstudio.engine.script_watch.END_S", 0.05)
    begun, over = threading.Event(), threading.Event()

    def wait(*_: object) -> None:
        begun.set()
        over.wait(30)

    hook = tts.flow_lm.out_eos.register_forward_pre_hook(wait)
    speaker = threading.Thread(target=in_one_thread, args=(tts, low, 2))
    try:
        with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
            speaker.start()
            assert begun.wait(30)
    finally:
        over.set()
        speaker.join()
        hook.remove()
    with Recording.open(path) as recording:
        assert recording.facts.status == "failed"
        assert "in the midst of a step" in recording.facts.reason
