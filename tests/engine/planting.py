"""Runs with faults, and looks whether the model comes out of them as it went in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kvstudio.engine.faults.live import module_of
from kvstudio.engine.faults.plan import FaultPlan
from kvstudio.engine.session import Outcome, Session
from kvstudio.recording.reader import Recording
from kvstudio.recording.recipes import parse_edit
from kvstudio.recording.spec import RunSpec
from tests.engine.running import Heard, observed, raw

TEXT = "Hi."
STATE_KEYS = ("offset", "cache", "previous", "partial")


@dataclass
class Ran:
    """What a run with edits was and left.

    Attributes:
        latents: by frame id, bit for bit, from the recording.
        sound: the audio, bit for bit.
        left: every tensor of the states at the end, bit for bit, by model, chunk, entry and key.
    """

    outcome: Outcome
    heard: Heard
    plan: FaultPlan
    latents: dict[int, bytes]
    sound: bytes
    left: dict[tuple[str, int, str, str], bytes]
    path: Path

    @property
    def everything(self) -> tuple[object, ...]:
        return self.latents, self.sound, self.left, self.outcome.status


def plant(session: Session, folder: Path, *edits: str, **how: Any) -> Ran:  # noqa: ANN401
    """Runs `TEXT` with edits as they are written; `how` goes to the spec."""
    how = {"text": TEXT, "trace": "off", **how}
    spec = RunSpec(edits=tuple(parse_edit(edit) for edit in edits), **how)
    path = folder / f"run{len(list(folder.iterdir()))}.kvrec"
    outcome, heard = observed(session, spec, path)
    assert session.plan is not None
    with Recording.open(path) as recording:
        latents = {frame.id: recording.latent(frame.id) for frame in recording.frames}
        sound = recording.audio().tobytes()
    left = {
        (model, number, entry, key): b"" if tensor.device.type == "meta" else raw(tensor.float())
        for model, states in (("flow_lm", heard.flow_states), ("mimi", heard.mimi_states))
        for number, state in enumerate(states)
        for entry, tensors in state.items()
        for key, tensor in tensors.items()
        if key in STATE_KEYS
    }
    seen = {frame: latent.tobytes() for frame, latent in latents.items() if latent is not None}
    return Ran(outcome, heard, session.plan, seen, sound, left, path)


def snapshot(tts: Any) -> dict[str, object]:  # noqa: ANN401
    """All that a patch could have been put on, by identity."""
    seen: dict[str, object] = {}
    for name, module in tts.named_modules():
        _note(seen, name, vars(module))
        backend = getattr(module, "_cache_backend", None)
        if backend is not None:
            _note(seen, f"{name} backend", vars(backend))
            _note(seen, "attention", vars(module_of(backend)))
    _note(seen, "tts", vars(module_of(tts)))
    return seen


def raw_state(state: Mapping[str, Mapping[str, torch.Tensor]]) -> dict[tuple[str, str], bytes]:
    return {(entry, key): raw(tensor) for entry in state for key, tensor in state[entry].items()}


def _note(seen: dict[str, object], where: str, values: Mapping[str, object]) -> None:
    for key, value in values.items():
        own = isinstance(value, dict) and key.startswith("_")
        for inner, held in value.items() if own else ((None, value),):  # type: ignore[attr-defined]
            plain = isinstance(held, (int, float, str, bool, type(None)))
            seen[f"{where} {key} {inner}"] = held if plain else id(held)
