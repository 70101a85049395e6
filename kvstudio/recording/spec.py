"""A run spec: everything that decides what a run does, as data that can be stored and repeated."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args

from kvstudio.recording.errors import SpecError
from kvstudio.recording.typed import misfit

ModelKind = Literal["demo", "language", "config", "checkpoint", "script"]
TraceLevel = Literal["full", "cache", "off"]
MODEL_KINDS: tuple[ModelKind, ...] = ("demo", "language", "config", "checkpoint")
"""Those that can be loaded. The model of a `script` was one that a script had loaded itself."""
TRACE_LEVELS: tuple[TraceLevel, ...] = get_args(TraceLevel)
DEMO_VOICE = "low"
DEMO_TEXT = "Hello world. I am a tiny voice."


@dataclass(frozen=True)
class ModelSource:
    """Which model to load.

    Attributes:
        kind: `demo` (embedded), `language` (a config that pocket-tts ships), `config` (a YAML file,
            `https://` or `hf://`), `checkpoint` (a training checkpoint), or `script` (whatever a
            script gave to `kvstudio.record`; it cannot be loaded again).
        value: language name, config or checkpoint path; empty for the demo; for a script, the
            model's config or class.
        config: for a checkpoint, the config or language it was trained with.
    """

    kind: ModelKind = "demo"
    value: str = ""
    config: str = ""
    quantize: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.kind not in get_args(ModelKind):
            raise SpecError(f"unknown kind of model {self.kind!r}; known: {', '.join(MODEL_KINDS)}")
        _require_types(self)
        if self.kind != "demo" and not self.value.strip():
            raise SpecError(f"no {self.kind} given for the model")

    @property
    def title(self) -> str:
        """A short name for the status bar, such as `demo` or `english (int8)`."""
        name = "demo" if self.kind == "demo" else _file_title(self.value)
        return f"{name} (int8)" if self.quantize else name


@dataclass(frozen=True)
class Edit:
    """A perturbation of the run: at `frame`, apply recipe `recipe` with `arguments`."""

    recipe: str
    frame: int
    arguments: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_types(self)


@dataclass(frozen=True)
class RunSpec:
    """One run. `None` means: what the model's own config recommends.

    Attributes:
        voice: audio file, `.safetensors` state, predefined name, or `hf://`; for the demo model
            also the name of an embedded voice.
        temperature: sampling temperature, standard deviation squared of the noise.
        decode_steps: sampler steps per latent.
        eos_threshold: the stop logit must exceed it.
        frames_after_eos: frames generated after the stop logit first exceeds the threshold.
        max_tokens: text tokens per chunk.
        copy_state: deep-copy the voice state for every chunk (the default of pocket-tts).
        trace: `full` records every aten op, `cache` only slots and state, `off` only frames.
    """

    model: ModelSource = field(default_factory=ModelSource)
    voice: str = DEMO_VOICE
    text: str = DEMO_TEXT
    seed: int = 1
    temperature: float | None = None
    decode_steps: int | None = None
    eos_threshold: float | None = None
    frames_after_eos: int | None = None
    max_tokens: int | None = None
    copy_state: bool = True
    trace: TraceLevel = "full"
    edits: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        if self.trace not in TRACE_LEVELS:
            known = ", ".join(TRACE_LEVELS)
            raise SpecError(f"unknown trace level {self.trace!r}; known: {known}")
        _require_types(self)
        _require(
            self.temperature is None or 0 <= self.temperature < math.inf,
            "temperature must be 0 or more",
        )
        _require(
            self.eos_threshold is None or math.isfinite(self.eos_threshold),
            "the EOS threshold must be a number",
        )
        _require(
            self.decode_steps is None or self.decode_steps >= 1, "decode steps must be 1 or more"
        )
        _require(
            self.frames_after_eos is None or self.frames_after_eos >= 0,
            "frames after EOS must be 0 or more",
        )
        _require(self.max_tokens is None or self.max_tokens >= 1, "max tokens must be 1 or more")
        _require(0 <= self.seed < 2**63, "the seed must be between 0 and 2^63 - 1")

    def require_runnable(self) -> None:
        """Raises SpecError if there is nothing to say or nobody to say it."""
        _require(
            self.model.kind != "script",
            "this was recorded from a script, whose model and calls are not in the recording: run "
            "the script again, or name a model, a voice and a text",
        )
        _require(bool(self.text.strip()), "there is no text to speak: type some into Text")
        _require(
            bool(self.voice.strip()), "no voice chosen: pick a voice file or a predefined voice"
        )

    def to_json(self) -> str:
        # Escaped, because a file name need not be Unicode and then survives no other encoding.
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SpecError(f"the run spec is not JSON: {error}") from error
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: object) -> "RunSpec":
        """The spec from plain JSON data.

        Raises:
            SpecError: an unknown key, a wrong type or a value out of range.
        """
        known = _known_fields(cls, data)
        known["model"] = ModelSource(**_known_fields(ModelSource, known.get("model", {})))
        edits = known.get("edits", ())
        if not isinstance(edits, (list, tuple)):
            raise SpecError("edits must be a list")
        try:
            known["edits"] = tuple(Edit(**_known_fields(Edit, edit)) for edit in edits)
        except TypeError as error:
            raise SpecError("an edit needs a recipe and a frame") from error
        return cls(**known)

    def with_edit(self, edit: Edit) -> "RunSpec":
        return replace(self, edits=(*self.edits, edit))


def _file_title(path: str) -> str:
    """The file's name, or its folder's where the file is named like any other (`config.yaml`)."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    plain = parts[-1].split(".")[0] in ("config", "model", "checkpoint")
    return parts[-2] if plain and len(parts) > 1 and parts[-2] else parts[-1]


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise SpecError(message)


def _require_types(data: "ModelSource | Edit | RunSpec") -> None:
    wrong = misfit(type(data), vars(data))
    _require(wrong is None, f"{type(data).__name__}: {wrong}")


def _known_fields(cls: type[Any], data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise SpecError(f"{cls.__name__} must be an object, found {type(data).__name__}")
    unknown = set(data) - {each.name for each in fields(cls)}
    if unknown:
        raise SpecError(f"{cls.__name__}: there is no {', '.join(sorted(map(str, unknown)))}")
    return dict(data)
