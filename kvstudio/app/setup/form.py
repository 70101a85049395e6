"""What is filled in in Setup, as plain data: what is wrong with it, and the run spec it makes."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from kvstudio.app.setup.edit_form import EditForm
from kvstudio.recording.errors import SpecError
from kvstudio.recording.spec import (
    DEMO_TEXT,
    DEMO_VOICE,
    MODEL_KINDS,
    TRACE_LEVELS,
    ModelKind,
    ModelSource,
    RunSpec,
    TraceLevel,
)

REMOTE = ("hf://", "http://", "https://")
VOICE_SUFFIXES = {
    ".aif", ".aiff", ".au", ".caf", ".flac", ".mp3", ".oga", ".ogg", ".opus", ".safetensors",
    ".w64", ".wav",
}  # fmt: skip
LABELS = {
    "seed": "seed",
    "temperature": "temperature",
    "decode_steps": "decode steps",
    "eos_threshold": "EOS threshold",
    "frames_after_eos": "frames after EOS",
    "max_tokens": "max tokens",
}
MODEL_FIELDS = ("language", "config", "checkpoint", "checkpoint_config")


@dataclass(frozen=True)
class SetupForm:
    """Every field as it stands in the panel; numbers as typed, empty for the model's own.

    Attributes:
        kind: demo, language, config or checkpoint; the values of the others are kept for later.
        language: a config that pocket-tts ships.
        config: path or address of a config file.
        checkpoint: path of a training checkpoint.
        checkpoint_config: path of the config, or the language, it was trained with.
        edits: what is done to the run on purpose; not kept from session to session.
    """

    kind: str = "demo"
    language: str = ""
    config: str = ""
    checkpoint: str = ""
    checkpoint_config: str = ""
    quantize: bool = False
    device: str = "cpu"
    voice: str = DEMO_VOICE
    text: str = DEMO_TEXT
    seed: str = "1"
    temperature: str = ""
    decode_steps: str = ""
    eos_threshold: str = ""
    frames_after_eos: str = ""
    max_tokens: str = ""
    copy_state: bool = True
    trace: str = "full"
    edits: tuple[EditForm, ...] = ()

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> "SetupForm":
        """What was kept of an earlier session; what does not fit falls back to its default."""
        defaults = cls()
        fitting = {
            each.name: kept[each.name]
            for each in fields(cls)
            if each.name != "edits"
            and type(kept.get(each.name)) is type(getattr(defaults, each.name))
        }
        if fitting.get("kind") not in MODEL_KINDS:
            fitting.pop("kind", None)
        if fitting.get("trace") not in TRACE_LEVELS:
            fitting.pop("trace", None)
        return cls(**fitting)

    @classmethod
    def of_spec(cls, spec: RunSpec) -> "SetupForm":
        """The form that makes `spec`, to go on from a recorded run.

        Raises SpecError if it was recorded from a script: no form makes those calls.
        """
        model, kind = spec.model, spec.model.kind
        if kind not in MODEL_KINDS:
            raise SpecError("it was recorded from a script, which chose model, voice and texts")
        places: dict[str, dict[str, Any]] = {
            "language": {"language": model.value},
            "config": {"config": model.value},
            "checkpoint": {"checkpoint": model.value, "checkpoint_config": model.config},
        }
        numbers = {name: _typed(getattr(spec, name)) for name in _NUMBERS}
        return cls(
            kind=kind,
            quantize=model.quantize,
            device=model.device,
            voice=spec.voice,
            text=spec.text,
            copy_state=spec.copy_state,
            trace=spec.trace,
            edits=tuple(EditForm.of(edit) for edit in spec.edits),
            **{**places.get(kind, {}), **numbers},
        )

    def to_dict(self) -> dict[str, Any]:
        """What is worth keeping: a fault from the last session would be a nasty surprise."""
        return {name: each for name, each in asdict(self).items() if name != "edits"}

    # ---- what is wrong ------------------------------------------------------------------------

    def problems(self) -> dict[str, str]:
        """By field name: what is wrong, in words; empty if a run can be started."""
        found = {**self.model_problems(), **self._number_problems()}
        if voice := self._voice_problem():
            found["voice"] = voice
        if not self.text.strip():
            found["text"] = "type a text to speak"
        if wrong := next((each.problem for each in self.edits if each.problem), ""):
            found["edits"] = wrong
        return found

    def model_problems(self) -> dict[str, str]:
        """Like `problems`, for the model's fields alone."""
        found: dict[str, str] = {}
        if self.kind == "language" and not self.language:
            found["language"] = "choose a language"
        elif self.kind == "config":
            found["config"] = _file_problem(self.config, "config file")
        elif self.kind == "checkpoint":
            found["checkpoint"] = _file_problem(self.checkpoint, "checkpoint")
            if "/" in self.checkpoint_config or "\\" in self.checkpoint_config:
                found["checkpoint_config"] = _file_problem(self.checkpoint_config, "config file")
        return {name: words for name, words in found.items() if words}

    # ---- what it makes ------------------------------------------------------------------------

    def model(self) -> ModelSource:
        """Raises SpecError with the first problem of the model's fields."""
        _require_none(self.model_problems())
        value = {"language": self.language, "config": self.config, "checkpoint": self.checkpoint}
        return ModelSource(
            kind=cast("ModelKind", self.kind),
            value=value.get(self.kind, "").strip(),
            config=self.checkpoint_config.strip() if self.kind == "checkpoint" else "",
            quantize=self.quantize,
            device=self.device or "cpu",
        )

    def spec(self) -> RunSpec:
        """Raises SpecError with the first problem."""
        _require_none(self.problems())
        return RunSpec(
            model=self.model(),
            voice=self.voice.strip(),
            text=self.text.strip(),
            copy_state=self.copy_state,
            trace=cast("TraceLevel", self.trace),
            edits=tuple(each.edit() for each in self.edits),
            **self._numbers(),
        )

    # ---- private ------------------------------------------------------------------------------

    def _numbers(self) -> dict[str, Any]:
        typed = {name: getattr(self, name).strip() for name in _NUMBERS}
        return {name: _NUMBERS[name](text) for name, text in typed.items() if text}

    def _number_problems(self) -> dict[str, str]:
        found = {}
        for name, read in _NUMBERS.items():
            text = getattr(self, name).strip()
            try:
                if text:
                    typed: dict[str, Any] = {name: read(text)}
                    RunSpec(**typed)
                elif name == "seed":
                    found[name] = "a run needs a seed, any whole number"
            except ValueError:
                kind = "whole number" if read is int else "number"
                found[name] = f"{LABELS[name]} must be a {kind}, not {text!r}"
            except SpecError as error:
                found[name] = str(error)
        return found

    def _voice_problem(self) -> str:
        voice = self.voice.strip()
        if not voice:
            return "choose a voice, or drop an audio file here"
        if voice.startswith(REMOTE):
            return ""
        looks_like_file = Path(voice).suffix.lower() in VOICE_SUFFIXES or Path(voice).is_absolute()
        return _file_problem(voice, "voice file") if looks_like_file else ""


def _finite(text: str) -> float:
    number = float(text.replace(",", "."))
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_NUMBERS: dict[str, Callable[[str], float]] = {
    "seed": int,
    "temperature": _finite,
    "decode_steps": int,
    "eos_threshold": _finite,
    "frames_after_eos": int,
    "max_tokens": int,
}


def _typed(number: float | None) -> str:
    return "" if number is None else f"{number:g}" if isinstance(number, float) else str(number)


def _file_problem(path: str, what: str) -> str:
    path = path.strip()
    if not path:
        return f"choose a {what}"
    if path.startswith(REMOTE):
        return ""
    if Path(path).is_dir():
        return f"{path} is a folder, not a {what}"
    return "" if Path(path).is_file() else f"there is no {what} {path}"


def _require_none(problems: dict[str, str]) -> None:
    for words in problems.values():
        raise SpecError(words)
