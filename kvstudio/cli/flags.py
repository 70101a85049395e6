"""The options of a run, one by one."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

MODEL, VOICE, TEXT, ENGINE = "Model", "Voice", "Text and sampling", "Engine"


class Trace(str, Enum):
    FULL = "full"
    CACHE = "cache"
    OFF = "off"


Demo = Annotated[
    bool, typer.Option("--demo", help="The embedded demo model.", rich_help_panel=MODEL)
]
Language = Annotated[
    str | None,
    typer.Option(help="A model of pocket-tts, by language.", rich_help_panel=MODEL),
]
Config = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|URL",
        help="A model config: a file, https://, hf://",
        rich_help_panel=MODEL,
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="A training checkpoint; --language or --config say of which model.",
        rich_help_panel=MODEL,
    ),
]
Quantize = Annotated[
    bool | None,
    typer.Option("--quantize", help="Quantise the model to int8.", rich_help_panel=MODEL),
]
Device = Annotated[
    str | None,
    typer.Option(help="Where to run it, such as cpu or cuda:0.", rich_help_panel=MODEL),
]
Voice = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME|URL",
        help="An audio file, a .safetensors state, a predefined voice, hf://",
        rich_help_panel=VOICE,
    ),
]
InPlace = Annotated[
    bool | None,
    typer.Option(
        "--in-place/--copy-state",
        help="Go on with the voice state itself instead of a copy.",
        rich_help_panel=VOICE,
    ),
]
Text = Annotated[str | None, typer.Option(help="What to say.", rich_help_panel=TEXT)]
Seed = Annotated[
    int | None, typer.Option(help="Of the sampling; 1 unless given.", rich_help_panel=TEXT)
]
Temperature = Annotated[
    float | None,
    typer.Option(help="Of the sampling; the model's own unless given.", rich_help_panel=TEXT),
]
DecodeSteps = Annotated[
    int | None, typer.Option(help="Sampler steps per latent.", rich_help_panel=TEXT)
]
EosThreshold = Annotated[
    float | None,
    typer.Option(help="The stop logit must exceed it.", rich_help_panel=TEXT),
]
FramesAfterEos = Annotated[
    int | None,
    typer.Option(help="Frames to generate after the stop logit.", rich_help_panel=TEXT),
]
MaxTokens = Annotated[int | None, typer.Option(help="Text tokens per chunk.", rich_help_panel=TEXT)]
Edit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RECIPE[:NAME=VALUE,...]@FRAME",
        help="Break something at a frame, see `kvstudio faults`; may be repeated.",
        rich_help_panel=TEXT,
    ),
]
Spec = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Repeat the run of a .kvrec, or run a spec in .json; other options change it.",
        rich_help_panel=ENGINE,
    ),
]
TraceLevel = Annotated[
    Trace | None,
    typer.Option(
        help="Record every op, only slots and state, or only frames.", rich_help_panel=ENGINE
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Run the engine in this interpreter or virtual environment.",
        rich_help_panel=ENGINE,
    ),
]
