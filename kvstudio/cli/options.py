"""The options that make a run spec, shared by every command that runs a model."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kvstudio.cli import flags
from kvstudio.recording.errors import SpecError
from kvstudio.recording.recipes import parse_edit
from kvstudio.recording.spec import ModelSource, RunSpec


@dataclass(frozen=True)
class RunOptions:
    """What was asked for.

    Attributes:
        asked: whether any option about the run was given at all.
    """

    spec: RunSpec
    python: str | None
    asked: bool


def run_options(
    demo: flags.Demo = False,
    language: flags.Language = None,
    config: flags.Config = None,
    checkpoint: flags.Checkpoint = None,
    quantize: flags.Quantize = None,
    device: flags.Device = None,
    voice: flags.Voice = None,
    in_place: flags.InPlace = None,
    text: flags.Text = None,
    seed: flags.Seed = None,
    temperature: flags.Temperature = None,
    decode_steps: flags.DecodeSteps = None,
    eos_threshold: flags.EosThreshold = None,
    frames_after_eos: flags.FramesAfterEos = None,
    max_tokens: flags.MaxTokens = None,
    edit: flags.Edit = None,
    spec: flags.Spec = None,
    trace: flags.TraceLevel = None,
    python: flags.Python = None,
) -> RunOptions:
    base = None if spec is None else _read_spec(spec)
    model = _model(base, demo, language, config, checkpoint)
    model = replace(model, **_given(quantize=quantize, device=device))
    changes = _given(
        voice=None if voice is None else _whole(voice),
        text=text,
        seed=seed,
        temperature=temperature,
        decode_steps=decode_steps,
        eos_threshold=eos_threshold,
        frames_after_eos=frames_after_eos,
        max_tokens=max_tokens,
        copy_state=None if in_place is None else not in_place,
        trace=None if trace is None else trace.value,
        edits=None if not edit else tuple(parse_edit(each) for each in edit),
    )
    if base is None and model.kind != "demo":
        _require_given(changes, "voice", "text")
    asked = (
        base is not None or python is not None or demo or model != ModelSource() or bool(changes)
    )
    return RunOptions(replace(base or RunSpec(), model=model, **changes), python, asked)


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Puts the options of `run_options` before those of a command that takes `options`."""
    shared = inspect.signature(run_options).parameters
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "options"]

    def merged(**values: Any) -> None:  # noqa: ANN401 -- whatever the options hold
        options = run_options(**{name: values.pop(name) for name in shared})
        command(options=options, **values)

    parameters = [*own, *shared.values()]
    keyword = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    merged.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    merged.__annotations__ = {each.name: each.annotation for each in keyword}
    merged.__name__, merged.__doc__ = command.__name__, command.__doc__
    return merged


def _read_spec(file: Path) -> RunSpec:
    if file.suffix == ".json":
        try:
            return RunSpec.from_json(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, SpecError) as error:
            raise SpecError(f"cannot read {file}: {error}") from error
    from kvstudio.recording.reader import Recording

    with Recording.open(file) as recording:
        return recording.spec


def _model(
    base: RunSpec | None,
    demo: bool,
    language: str | None,
    config: str | None,
    checkpoint: str | None,
) -> ModelSource:
    named = {"--demo": demo, "--language": language, "--config": config}
    given = [name for name, value in named.items() if value]
    if len(given) > 1 or (checkpoint is not None and demo):
        given += [] if checkpoint is None else ["--checkpoint"]
        raise SpecError(f"{' and '.join(given)} name different models: give one of them")
    if checkpoint is not None:
        return ModelSource(
            "checkpoint", _whole(checkpoint), config=language or _whole(config or "")
        )
    if language is not None:
        return ModelSource("language", language)
    if config is not None:
        return ModelSource("config", _whole(config))
    return base.model if base is not None and not demo else ModelSource()


def _whole(source: str) -> str:
    """A local file by its whole path, so that the spec can be repeated from another folder."""
    path = Path(source).expanduser()
    return str(path.resolve()) if path.suffix and path.is_file() else source


def _require_given(changes: dict[str, Any], *names: str) -> None:
    for name in names:
        if name not in changes:
            raise SpecError(f"give --{name}: only the demo model has one of its own")


def _given(**values: object) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
