"""The options that make a run spec, shared by every command that runs a model."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from kvstudio.recording.errors import SpecError
from kvstudio.recording.spec import Edit, ModelSource, RunSpec

MODEL, VOICE, TEXT, ENGINE = "Model", "Voice", "Text and sampling", "Engine"


class Trace(str, Enum):
    FULL = "full"
    CACHE = "cache"
    OFF = "off"


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
    demo: Annotated[
        bool, typer.Option("--demo", help="The embedded demo model.", rich_help_panel=MODEL)
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(help="A model of pocket-tts, by language.", rich_help_panel=MODEL),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="A model config: a file, https://, hf://",
            rich_help_panel=MODEL,
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="A training checkpoint; --language or --config say of which model.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    quantize: Annotated[
        bool | None,
        typer.Option("--quantize", help="Quantise the model to int8.", rich_help_panel=MODEL),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="Where to run it, such as cpu or cuda:0.", rich_help_panel=MODEL),
    ] = None,
    voice: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME|URL",
            help="An audio file, a .safetensors state, a predefined voice, hf://",
            rich_help_panel=VOICE,
        ),
    ] = None,
    in_place: Annotated[
        bool | None,
        typer.Option(
            "--in-place/--copy-state",
            help="Go on with the voice state itself instead of a copy.",
            rich_help_panel=VOICE,
        ),
    ] = None,
    text: Annotated[str | None, typer.Option(help="What to say.", rich_help_panel=TEXT)] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the sampling; 1 unless given.", rich_help_panel=TEXT)
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(help="Of the sampling; the model's own unless given.", rich_help_panel=TEXT),
    ] = None,
    decode_steps: Annotated[
        int | None, typer.Option(help="Sampler steps per latent.", rich_help_panel=TEXT)
    ] = None,
    eos_threshold: Annotated[
        float | None,
        typer.Option(help="The stop logit must exceed it.", rich_help_panel=TEXT),
    ] = None,
    frames_after_eos: Annotated[
        int | None,
        typer.Option(help="Frames to generate after the stop logit.", rich_help_panel=TEXT),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Text tokens per chunk.", rich_help_panel=TEXT)
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RECIPE[:NAME=VALUE,...]@FRAME",
            help="Change something at a frame; may be repeated.",
            rich_help_panel=TEXT,
        ),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Repeat the run of a .kvrec, or run a spec in .json; other options change it.",
            rich_help_panel=ENGINE,
        ),
    ] = None,
    trace: Annotated[
        Trace | None,
        typer.Option(
            help="Record every op, only slots and state, or only frames.", rich_help_panel=ENGINE
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Run the engine in this interpreter or virtual environment.",
            rich_help_panel=ENGINE,
        ),
    ] = None,
) -> RunOptions:
    base = None if spec is None else _read_spec(spec)
    model = _model(base, demo, language, config, checkpoint)
    model = replace(model, **_given(quantize=quantize, device=device))
    changes = _given(
        voice=voice,
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
    asked = base is not None or demo or model != ModelSource() or bool(changes)
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


def parse_edit(text: str) -> Edit:
    """`RECIPE[:NAME=VALUE,...]@FRAME`, such as `poke:layer=2,slot=7@12`.

    Raises:
        SpecError: the text has another form.
    """
    before, at, frame = text.rpartition("@")
    recipe, _, listed = before.partition(":")
    pairs = [each.partition("=") for each in listed.split(",") if each]
    if not (at and recipe and frame.isdecimal()) or not all(name and is_ for name, is_, _ in pairs):
        raise SpecError(
            f"cannot read the edit {text!r}: write RECIPE@FRAME or RECIPE:NAME=VALUE,...@FRAME"
        )
    return Edit(recipe, int(frame), {name: value for name, _, value in pairs})


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
        return ModelSource("checkpoint", checkpoint, config=language or config or "")
    if language is not None:
        return ModelSource("language", language)
    if config is not None:
        return ModelSource("config", config)
    return base.model if base is not None and not demo else ModelSource()


def _require_given(changes: dict[str, Any], *names: str) -> None:
    for name in names:
        if name not in changes:
            raise SpecError(f"give --{name}: only the demo model has one of its own")


def _given(**values: object) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
