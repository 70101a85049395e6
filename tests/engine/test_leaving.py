"""However a run ends, the model is as it was, no thread stays behind, and the next run is whole."""

import _thread
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.modules import module as torch_module
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from kvstudio.engine.gate import Gate
from kvstudio.engine.session import Session
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.running import (
    Heard,
    assert_same_run,
    observed,
    plain,
    session_with,
    stepped,
)

SPEC = RunSpec(text="Hello world.", temperature=0.7, eos_threshold=-3.0, decode_steps=2)
PATIENCE_S = 30


class Broken(Exception):
    pass


@pytest.fixture(scope="module")
def session() -> Session:
    return session_with(ModelSource(), "low")


@pytest.fixture(scope="module")
def expected(session: Session) -> Heard:
    return plain(session, SPEC)


@pytest.fixture(autouse=True)
def nothing_left(session: Session, expected: Heard, tmp_path: Path) -> Iterator[None]:
    """After every test: all is as before, and the model runs as if nothing had been."""
    before = traces(session.tts)
    threads = set(threading.enumerate())
    yield
    assert traces(session.tts) == before
    assert set(threading.enumerate()) == threads
    assert not _get_current_dispatch_mode_stack()
    spec = replace(SPEC, trace="off")
    outcome, heard = observed(session, spec, tmp_path / "afterwards.kvrec")
    assert outcome.status == "finished"
    assert_same_run(heard, expected)


def traces(tts: Any) -> dict[str, object]:  # noqa: ANN401
    """Everything on the model that a wrapper, a hook or a setting would change."""
    found: dict[str, object] = {
        "global hooks": (
            len(torch_module._global_forward_hooks),
            len(torch_module._global_forward_pre_hooks),
        ),
        "settings": (tts.temp, tts.eos_threshold, tts.sampler_decode_steps, tts.noise_clamp),
        "frames per call": tts.max_decoder_frames_per_call,
        "grad": torch.is_grad_enabled(),
    }
    for name, module in tts.named_modules():
        own = {key: id(value) for key, value in vars(module).items() if not key.startswith("_")}
        hooks = [len(value) for key, value in vars(module).items() if key.endswith("_hooks")]
        found[name] = (own, hooks)
    return found


def failing(
    owner: object, name: str, error: BaseException, at: int = 1
) -> AbstractContextManager[None]:
    """While entered, the `at`-th call of `owner.name` raises `error`."""
    calls = 0

    def call(original: Callable[..., Any], *args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        if calls == at:
            raise error
        return original(*args, **kwargs)

    return wrapped(owner, name, call)


def test_after_a_run(session: Session, tmp_path: Path) -> None:
    outcome, _ = observed(session, SPEC, tmp_path / "run.kvrec")
    assert (outcome.status, outcome.reason) == ("finished", "ended by EOS")


@pytest.mark.parametrize("steps", [0, 1, 2, 5], ids=lambda steps: f"after {steps}")
def test_after_a_stop_while_held(session: Session, tmp_path: Path, steps: int) -> None:
    held = threading.Semaphore(0)
    gate = Gate(lambda frame: held.release())
    with stepped(session, SPEC, tmp_path / "run.kvrec", gate) as results:
        for _ in range(steps):
            assert held.acquire(timeout=PATIENCE_S)
            gate.step()
        assert held.acquire(timeout=PATIENCE_S)
    outcome, _ = results[0]
    assert (outcome.status, outcome.reason) == ("stopped", f"stopped before frame {steps + 1}")
    with Recording.open(tmp_path / "run.kvrec") as recording:
        assert recording.status == "stopped"
        assert len(recording.frames) == steps + 1
        assert not any(frame.problem for frame in recording.frames)


def test_after_a_stop_while_running(session: Session, tmp_path: Path) -> None:
    gate = Gate()
    gate.run()

    def on_frame(frame: int) -> None:
        if frame == 6:
            gate.stop()

    outcome, _ = observed(session, SPEC, tmp_path / "run.kvrec", gate, on_frame=on_frame)
    assert (outcome.status, outcome.reason) == ("stopped", "stopped before frame 7")
    with Recording.open(tmp_path / "run.kvrec") as recording:
        heard = [frame for frame, _, _ in recording.audio_frames()]
        assert heard == [2, 3, 4, 5, 6]


def test_after_ctrl_c(session: Session, tmp_path: Path) -> None:
    def on_frame(frame: int) -> None:
        if frame == 4:
            _thread.interrupt_main()

    # A shell starts what runs in the background with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        outcome, _ = observed(session, SPEC, tmp_path / "run.kvrec", on_frame=on_frame)
    finally:
        signal.signal(signal.SIGINT, before)
    assert outcome.status == "stopped"
    with Recording.open(tmp_path / "run.kvrec") as recording:
        assert recording.status == "stopped"
        assert len(recording.frames) >= 5


def test_after_a_stop_between_chunks(session: Session, tmp_path: Path) -> None:
    spec = RunSpec(text="Hello world. Good day.", max_tokens=14)
    gate = Gate()
    gate.run()
    path = tmp_path / "run.kvrec"

    def on_frame(frame: int) -> None:
        with Recording.open(path) as recording:
            if len(recording.chunks) == 2:
                gate.stop()

    outcome, _ = observed(session, spec, path, gate, on_frame=on_frame)
    assert outcome.status == "stopped"
    with Recording.open(path) as recording:
        assert [chunk.id for chunk in recording.chunks] == [0, 1]


@pytest.mark.parametrize(
    ("owner", "name", "at", "frames"),
    [
        ("", "_expand_kv_cache", 1, 2),
        ("", "_run_flow_lm", 1, 2),
        ("", "_run_flow_lm", 5, 6),
        ("flow_lm.transformer.layers.3.self_attn", "forward", 5, 6),
        ("mimi.quantizer", "forward", 4, 6),
        ("mimi.decoder_transformer.transformer.layers.1.self_attn", "forward", 4, 6),
        ("mimi.upsample.convtr", "increment_step", 4, 7),
    ],
    ids=["expansion", "prefill", "step", "layer", "quantizer", "mimi layer", "mimi's thread"],
)
def test_after_the_model_failed(
    session: Session, tmp_path: Path, owner: str, name: str, at: int, frames: int
) -> None:
    assert session.tts is not None
    path = tmp_path / "run.kvrec"
    with failing(session.tts.get_submodule(owner), name, Broken("out of order"), at):
        outcome, _ = observed(session, SPEC, path)
    assert outcome.status == "failed"
    assert "Broken: out of order" in outcome.reason
    assert "Traceback" in outcome.detail
    with Recording.open(path) as recording:
        assert recording.status == "failed"
        assert recording.facts.reason == outcome.reason
        assert len(recording.frames) <= frames
        last = recording.frames[-1]
        assert "out of order" in (last.problem or "")
        states = recording.cache_states(last.id)
        assert {cache.id for cache in recording.caches if cache.model == "flow_lm"} <= set(states)


@pytest.mark.parametrize(
    ("owner", "name"), [("flow_lm.transformer.layers.3", "forward"), ("mimi.quantizer", "forward")]
)
def test_after_the_model_tried_to_exit(
    session: Session, tmp_path: Path, owner: str, name: str
) -> None:
    """`sys.exit` ends a thread without a word, and those who wait for it would wait for ever."""
    assert session.tts is not None
    with failing(session.tts.get_submodule(owner), name, SystemExit(3), at=5):
        outcome, _ = observed(session, SPEC, tmp_path / "run.kvrec")
    assert outcome.status == "failed"
    assert "SystemExit" in outcome.reason


def test_after_the_model_failed_while_held(session: Session, tmp_path: Path) -> None:
    """The thread that makes latents waits at the gate when the other one fails."""
    assert session.tts is not None
    held = threading.Semaphore(0)
    gate = Gate(lambda frame: held.release())
    path = tmp_path / "run.kvrec"
    with failing(session.tts.mimi.upsample.convtr, "increment_step", Broken("late"), 2):
        with stepped(session, SPEC, path, gate) as results:
            for _ in range(3):
                assert held.acquire(timeout=PATIENCE_S)
                gate.step()
            waited = threading.Event()
            for _ in range(PATIENCE_S * 10):
                if results or waited.wait(0.1):
                    break
            assert results, "the run ends although nobody steps"
    outcome, _ = results[0]
    assert outcome.status == "failed"
    assert "Broken: late" in outcome.reason


def test_wrappers_of_the_user_are_called_and_kept(session: Session, tmp_path: Path) -> None:
    assert session.tts is not None
    calls = []

    def patched(original: Callable[..., Any], *args: object, **kwargs: object) -> object:
        calls.append(1)
        return original(*args, **kwargs)

    with wrapped(session.tts, "_run_flow_lm_and_increment_step", patched):
        own = vars(session.tts)["_run_flow_lm_and_increment_step"]
        outcome, heard = observed(session, SPEC, tmp_path / "run.kvrec")
        assert vars(session.tts)["_run_flow_lm_and_increment_step"] is own
    assert outcome.status == "finished"
    assert len(calls) == len(heard.latents)
