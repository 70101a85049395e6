"""Scripts that take the loop apart: no expansion, no decoding thread, no `generate_audio`."""

import copy
import queue
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from pocket_tts import TTSModel

import kvstudio
from kvstudio.engine.state import ModelState
from kvstudio.recording.reader import Recording
from tests.engine.scripts import (
    decode,
    demo_model,
    fresh_codec,
    in_one_thread,
    prefilled,
    steps,
    titles,
    untouched,
    voice,
)

HEAD = ["voice prefill", "text prefill"]


@pytest.fixture(scope="module")
def tts() -> Any:  # noqa: ANN401
    return demo_model()


@pytest.fixture(scope="module")
def low(tts: TTSModel) -> ModelState:
    state: ModelState = voice(tts)
    return state


def frames_with_audio(recording: Recording) -> list[tuple[int, int]]:
    return [(frame, len(samples)) for frame, _, samples in recording.audio_frames()]


def decode_steps(count: int) -> list[str]:
    return [f"decode step {number}" for number in range(count)]


def test_step_and_decode(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    expected = in_one_thread(tts, low, 5)
    with untouched(tts), kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        assert torch.equal(in_one_thread(tts, low, 5), expected)
    with Recording.open(path) as recording:
        assert titles(recording) == HEAD + decode_steps(5)
        assert recording.audio().tobytes() == expected.numpy().tobytes()
        assert frames_with_audio(recording) == [(frame, 1920) for frame in range(2, 7)]
        assert recording.chunks[0].text == "Hello world."
    assert kvstudio.check(path).verdict == "clean"


def test_latents_alone(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        latents = list(steps(tts, prefilled(tts, low, frames=4), 4))
    with Recording.open(path) as recording:
        assert titles(recording) == HEAD + decode_steps(4)
        for frame, latent in enumerate(latents, 2):
            kept = recording.latent(frame)
            assert kept is not None
            assert kept.tobytes() == latent.numpy().tobytes()
    assert kvstudio.check(path).verdict == "clean"


def test_latents_first_and_sound_afterwards(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """Decoding apart from the steps makes frames of its own; several latents a call make one."""
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        latents = list(steps(tts, prefilled(tts, low, frames=4), 4))
        codec = fresh_codec(tts)
        one_by_one = torch.cat([decode(tts, latent, codec) for latent in latents])
        at_once = decode(tts, torch.cat(latents, 1), fresh_codec(tts))
    with Recording.open(path) as recording:
        assert titles(recording) == [*HEAD, *decode_steps(4), *decode_steps(4), *decode_steps(1)]
        alone = [frame.is_codec_alone for frame in recording.frames]
        assert alone == [False] * 6 + [True] * 5
        assert frames_with_audio(recording) == [(n, 1920) for n in (6, 7, 8, 9)] + [(10, 7680)]
        heard = torch.cat([one_by_one, at_once])
        assert recording.audio().tobytes() == heard.numpy().tobytes()
    assert kvstudio.check(path).verdict == "clean"


def test_sound_one_step_late(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        codec, before = fresh_codec(tts), None
        for latent in steps(tts, prefilled(tts, low, frames=4), 4):
            if before is not None:
                decode(tts, before, codec)
            before = latent
    with Recording.open(path) as recording:
        assert [frame.is_codec_alone for frame in recording.frames[2:]] == [
            *(False, False, True, False, True, False, True)
        ]
    assert kvstudio.check(path).verdict == "clean"


def test_a_codec_alone(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    latents = list(steps(tts, prefilled(tts, low, frames=3), 3))
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        codec = fresh_codec(tts)
        for latent in latents:
            decode(tts, latent, codec)
    with Recording.open(path) as recording:
        assert titles(recording) == decode_steps(3)
        assert recording.chunks[0].required_len == 0
    assert kvstudio.check(path).verdict == "clean"


def test_a_codec_that_is_reset_in_part(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    latents = list(steps(tts, prefilled(tts, low, frames=3), 3))
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        codec = fresh_codec(tts)
        for _ in range(2):
            for latent in latents:
                decode(tts, latent, codec)
            for entry in codec.values():
                if "cache" in entry:
                    entry["offset"].zero_()
                    entry["cache"].fill_(float("nan"))
    found = kvstudio.check(path).findings
    assert {(finding.kind, finding.frame) for finding in found} == {("codec-state-stale", 3)}


def test_a_state_that_was_begun_before(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """Neither its expansion nor its text was seen: its steps are."""
    state = prefilled(tts, low, frames=6)
    latents = steps(tts, state, 6)
    next(latents)
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        next(latents)
        next(latents)
    list(latents)
    with Recording.open(path) as recording:
        assert titles(recording) == ["voice prefill", *decode_steps(3)[1:]]
    assert kvstudio.check(path).verdict == "clean"


def test_a_write_past_the_capacity(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        list(steps(tts, prefilled(tts, low, frames=3), 5))
    (finding,) = kvstudio.check(path).findings
    assert (finding.kind, finding.frame) == ("dropped-write", 5)


def test_two_states_by_turns(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        states = [prefilled(tts, low, frames=3, text=text) for text in ("Hello.", "Good day.")]
        codecs = [fresh_codec(tts) for _ in states]
        for both in zip(*(steps(tts, state, 3) for state in states), strict=True):
            for latent, codec in zip(both, codecs, strict=True):
                decode(tts, latent, codec)
    with Recording.open(path) as recording:
        assert len(recording.frames) == 9
        texts = [recording.chunks[frame.chunk].text for frame in recording.frames]
        assert texts == ["Hello.", *["Hello.", "Good day."] * 4]
        assert [frame for frame, _ in frames_with_audio(recording)] == [3, 4, 5, 6, 7, 8]
    assert kvstudio.check(path).verdict == "clean"


def test_a_decoding_thread_of_the_script_s_own(
    tts: TTSModel, low: ModelState, tmp_path: Path
) -> None:
    """Once it is seen that another thread decodes, each frame waits for its samples."""
    heard: list[torch.Tensor] = []
    latents: queue.Queue[torch.Tensor | None] = queue.Queue()

    def decode_all() -> None:
        codec = fresh_codec(tts)
        while (latent := latents.get()) is not None:
            heard.append(decode(tts, latent, codec))

    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        decoder = threading.Thread(target=decode_all)
        decoder.start()
        for latent in steps(tts, prefilled(tts, low, frames=6), 6):
            latents.put(latent)
        latents.put(None)
        decoder.join()
    with Recording.open(path) as recording:
        assert recording.audio().tobytes() == torch.cat(heard).numpy().tobytes()
        assert frames_with_audio(recording)[-3:] == [
            (number, 1920) for number in range(len(recording.frames) - 3, len(recording.frames))
        ]
    assert kvstudio.check(path).verdict == "clean"


def test_a_rewound_state(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """Setting the offset back and prefilling again goes on with the same state."""
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        state = prefilled(tts, low, frames=8)
        list(steps(tts, state, 3))
        end = low[next(iter(low))]["offset"]
        for entry in state.values():
            entry["offset"].copy_(end)
        tokens = tts.flow_lm.conditioner.prepare("Good day.")
        with torch.no_grad():
            tts._run_flow_lm_and_increment_step(model_state=state, text_tokens=tokens)
        list(steps(tts, state, 2))
    with Recording.open(path) as recording:
        assert [chunk.continues for chunk in recording.chunks] == [None, 0]
        assert recording.chunks[1].current_end == int(end)
        assert titles(recording)[5:] == ["text prefill", *decode_steps(2)]


def test_many_states_do_not_pile_up(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    with kvstudio.record(tts, tmp_path / "run.kvrec", trace="cache") as path:
        for _ in range(7):
            state = copy.deepcopy(low)
            list(steps(tts, prefilled(tts, state, frames=1), 1))
            del state
    with Recording.open(path) as recording:
        assert [frame.chunk for frame in recording.frames if frame.phase == "decode"] == [*range(7)]


def test_several_states_by_turns(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        loops = [steps(tts, prefilled(tts, low, frames=2), 2) for _ in range(5)]
        for _ in range(2):
            for loop in loops:
                next(loop)
    with Recording.open(path) as recording:
        head = ["voice prefill"] + ["text prefill"] * 5
        assert titles(recording) == head + ["decode step 0"] * 5 + ["decode step 1"] * 5
        assert set(recording.evidence.fed().values()) == {"marker", "latent"}
    assert kvstudio.check(path).verdict == "clean"


def test_a_loop_that_began_before(tts: TTSModel, low: ModelState, tmp_path: Path) -> None:
    """What the first step was fed is not known, as nobody saw the latent of the one before."""
    loop = steps(tts, prefilled(tts, low, frames=4), 4)
    next(loop)
    with kvstudio.record(tts, tmp_path / "run.kvrec") as path:
        in_one_thread(tts, low, 2)
        list(loop)
    with Recording.open(path) as recording:
        assert list(recording.evidence.fed().values()) == ["marker", "latent", "latent", "latent"]
    assert kvstudio.check(path).verdict == "clean"
