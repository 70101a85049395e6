"""`kvstudio faults`: the ways to break a run on purpose."""

import json
import sys
import textwrap
from typing import Annotated

import typer

from kvstudio.recording.recipes import GROUPS, RECIPES, Argument, Recipe

WIDTH, MARGIN = 96, 4


def faults(
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the recipes to standard output as one list.")
    ] = False,
) -> None:
    """List the faults that --edit RECIPE[:NAME=VALUE,...]@FRAME can put into a run."""
    if as_json:
        sys.stdout.write(json.dumps([recipe.to_json() for recipe in RECIPES.values()]) + "\n")
    else:
        sys.stdout.write(words())


def words() -> str:
    """The recipes for a reader, a paragraph each."""
    lines = [
        "Break a run on purpose, to see what the fault looks and sounds like:",
        "  kvstudio record --demo --edit off-by-one-read:layer=2@6 -o broken.kvrec",
        "  kvstudio check --demo --edit shrink-expansion@1",
        "Frame 0 is the voice prefill, frame 1 the text prefill, then come the decode steps.",
    ]
    for title, group in GROUPS:
        lines += ["", title, "-" * len(title)]
        lines += [line for recipe in group for line in _recipe_lines(recipe)]
    return "\n".join(lines) + "\n"


def _recipe_lines(recipe: Recipe) -> list[str]:
    head = f"{recipe.name}@{recipe.frame}"
    lines = [f"{head:<30} {recipe.kind}"]
    lines += _wrapped(recipe.says)
    if recipe.arguments:
        lines += _wrapped(", ".join(_argument(argument) for argument in recipe.arguments))
    return lines


def _argument(argument: Argument) -> str:
    what = " | ".join(argument.choices) if argument.choices else argument.says
    return f"{argument.name}={argument.default} ({what})"


def _wrapped(text: str) -> list[str]:
    margin = " " * MARGIN
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin)
