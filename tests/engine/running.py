"""Runs a model twice: as its user would, and held and recorded by the engine.

Both runs are listened to in the same way, from outside, so that what they leave can be compared bit
for bit.
"""
# ruff: noqa: ANN401 -- what the model is called with and returns is passed through

import copy
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from kvstudio.engine.gate import Gate
from kvstudio.engine.progress import ProgressReporter
from kvstudio.engine.session import Outcome, Session
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.spec import ModelSource, RunSpec

State = Mapping[str, Mapping[str, torch.Tensor]]


@dataclass
class Heard:
    """What a run was and left.

    Attributes:
        latents: what every FlowLM pass returned, prefills included.
        logits: what `out_eos` returned at every pass, `[1, 1]` in decode steps.
        flow_states, mimi_states: of every chunk, as they were at the end.
        parts: the audio in the pieces in which it came.
    """

    latents: list[torch.Tensor] = field(default_factory=list)
    logits: list[torch.Tensor] = field(default_factory=list)
    flow_states: list[State] = field(default_factory=list)
    mimi_states: list[State] = field(default_factory=list)
    parts: list[torch.Tensor] = field(default_factory=list)

    @property
    def audio(self) -> torch.Tensor:
        return torch.cat(self.parts)


def session_with(source: ModelSource, voice: str) -> Session:
    session = Session(ProgressReporter(lambda progress: None))
    session.load(source)
    session.make_voice(voice)
    return session


@contextmanager
def listening(tts: Any) -> Iterator[Heard]:
    """While entered, notes what passes through the model without touching it."""
    heard = Heard()

    def flow_lm(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        _note(heard.flow_states, kwargs["model_state"])
        result = original(*args, **kwargs)
        heard.latents.append(result[0].clone())
        return result

    def mimi(original: Callable[..., Any], latent: torch.Tensor, state: State) -> Any:
        _note(heard.mimi_states, state)
        audio = original(latent, state)
        heard.parts.append(audio)  # faded in place by the caller before anybody hears it
        return audio

    hook = tts.flow_lm.out_eos.register_forward_hook(
        lambda module, inputs, output: heard.logits.append(output.clone())
    )
    try:
        with (
            wrapped(tts, "_run_flow_lm_and_increment_step", flow_lm),
            wrapped(tts.mimi, "decode_from_latent", mimi),
        ):
            yield heard
    finally:
        hook.remove()
    heard.parts = [part.reshape(-1) for part in heard.parts]


def plain(session: Session, spec: RunSpec) -> Heard:
    """The run without the engine: `generate_audio` on the bare model, a frame a call."""
    tts: Any = session.tts
    assert session.voice is not None
    state = copy.deepcopy(session.voice.state)
    arguments: dict[str, Any] = {"copy_state": spec.copy_state}
    for name in ("max_tokens", "frames_after_eos"):
        if getattr(spec, name) is not None:
            arguments[name] = getattr(spec, name)
    with ExitStack() as restored, listening(tts) as heard:
        restored.enter_context(setting(tts, "max_decoder_frames_per_call", 1))
        restored.enter_context(setting(tts, "temp", spec.temperature))
        restored.enter_context(setting(tts, "eos_threshold", spec.eos_threshold))
        restored.enter_context(setting(tts, "sampler_decode_steps", spec.decode_steps))
        torch.manual_seed(spec.seed)
        audio = tts.generate_audio(state, spec.text, **arguments)
    assert torch.equal(heard.audio, audio)
    return heard


def observed(
    session: Session, spec: RunSpec, path: Path, gate: Gate | None = None, **how: Any
) -> tuple[Outcome, Heard]:
    """The run in the engine, recorded to `path`; by default it is not held anywhere.

    Args:
        session: has the model and the voice; the voice is left as it was.
        spec: what to run.
        path: of the recording.
        gate: where the run is held.
        how: `on_frame`, see `Session.run`.
    """
    if gate is None:
        gate = Gate()
        gate.run()
    assert session.voice is not None
    kept = session.voice.state
    session.voice.state = copy.deepcopy(kept)
    try:
        with listening(session.tts) as heard:
            outcome = session.run(spec, session.open_recording(spec, path), gate, **how)
    finally:
        session.voice.state = kept
    return outcome, heard


@contextmanager
def stepped(
    session: Session, spec: RunSpec, path: Path, gate: Gate
) -> Iterator[list[tuple[Outcome, Heard]]]:
    """The run in a thread of its own, for tests that command it meanwhile; the list fills last."""
    results: list[tuple[Outcome, Heard]] = []
    runner = threading.Thread(target=lambda: results.append(observed(session, spec, path, gate)))
    runner.start()
    try:
        yield results
    finally:
        gate.stop()
        runner.join(60)
        assert not runner.is_alive()


@contextmanager
def setting(owner: Any, name: str, value: object) -> Iterator[None]:
    """While entered, `owner.name` is `value`; does nothing for None or a release without it."""
    if value is None or not hasattr(owner, name):
        yield
        return
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def assert_same_run(one: Heard, other: Heard) -> None:
    """Bit for bit, so that a NaN is the same as itself."""
    for name in ("latents", "logits", "parts"):
        assert_same_tensors(getattr(one, name), getattr(other, name), name)
    for name in ("flow_states", "mimi_states"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert len(ours) == len(theirs), name
        for state, twin in zip(ours, theirs, strict=True):
            assert_same_state(state, twin)


def assert_same_state(one: State, other: State) -> None:
    assert list(one) == list(other)
    for entry, tensors in one.items():
        assert list(tensors) == list(other[entry]), entry
        assert_same_tensors(list(tensors.values()), list(other[entry].values()), entry)


def assert_same_tensors(ours: list[torch.Tensor], theirs: list[torch.Tensor], what: str) -> None:
    assert len(ours) == len(theirs), what
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert one.shape == other.shape, (what, number)
        assert one.dtype == other.dtype, (what, number)
        assert raw(one) == raw(other), (what, number)


def raw(tensor: torch.Tensor) -> bytes:
    return tensor.detach().contiguous().numpy().tobytes()


def _note(states: list[State], state: State) -> None:
    if not states or states[-1] is not state:
        states.append(state)
