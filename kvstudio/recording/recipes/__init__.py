"""The catalogue of faults, and `RECIPE[:NAME=VALUE,...]@FRAME`, the way to ask for one."""

from collections.abc import Mapping

from kvstudio.recording.errors import SpecError
from kvstudio.recording.recipes.caches import CAPACITY, POKES, READS, WRITES
from kvstudio.recording.recipes.models import (
    CODEC,
    DEVICES,
    ENDING,
    PRECISION,
    THREADS,
)
from kvstudio.recording.recipes.positions import MASKS, POSITIONS, STALE
from kvstudio.recording.recipes.prefixes import PREFIX
from kvstudio.recording.recipes.recipe import Argument, Recipe, Value
from kvstudio.recording.spec import Edit

__all__ = [
    "GROUPS",
    "RECIPES",
    "Argument",
    "Recipe",
    "Value",
    "edit_text",
    "parse_edit",
    "recipe_of",
    "values_of",
]

GROUPS: tuple[tuple[str, tuple[Recipe, ...]], ...] = (
    ("Capacity and expansion", CAPACITY),
    ("Reads of the cache", READS),
    ("Writes to the cache", WRITES),
    ("Positions and limits", POSITIONS),
    ("Old content", STALE),
    ("Voice, marker and start", PREFIX),
    ("Masks and windows", MASKS),
    ("Precision", PRECISION),
    ("Devices and addresses", DEVICES),
    ("The codec", CODEC),
    ("The end", ENDING),
    ("Threads", THREADS),
    ("Pokes", POKES),
)
"""Every recipe, as a user would look for it."""
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for _, group in GROUPS for recipe in group}


def parse_edit(text: str) -> Edit:
    """`RECIPE[:NAME=VALUE,...]@FRAME`, such as `poke-nan:layer=2,slot=7@12`.

    Raises:
        SpecError: the text has another form, or asks for what there is not.
    """
    before, at, frame = text.rpartition("@")
    recipe, _, listed = before.partition(":")
    pairs = [each.partition("=") for each in listed.split(",") if each]
    if not (at and recipe and frame.isdecimal()) or not all(name and is_ for name, is_, _ in pairs):
        raise SpecError(
            f"cannot read the edit {text!r}: write RECIPE@FRAME or RECIPE:NAME=VALUE,...@FRAME"
        )
    edit = Edit(recipe, int(frame), {name: value for name, _, value in pairs})
    values_of(edit)
    return edit


def edit_text(edit: Edit) -> str:
    """The edit as `parse_edit` reads it."""
    listed = ",".join(f"{name}={value}" for name, value in edit.arguments.items())
    return f"{edit.recipe}{':' if listed else ''}{listed}@{edit.frame}"


def recipe_of(edit: Edit) -> Recipe:
    """The recipe that an edit asks for.

    Raises:
        SpecError: there is none of that name, or it cannot be applied at that frame.
    """
    recipe = RECIPES.get(edit.recipe)
    if recipe is None:
        raise SpecError(f"unknown recipe {edit.recipe!r}{_meant(edit.recipe)}; see kvstudio faults")
    if edit.frame < 0:
        raise SpecError(f"{edit.recipe}: frame {edit.frame} is before the first one, frame 0")
    phase = ("voice", "text")[edit.frame] if edit.frame < 2 else None
    # Later chunks have text prefills of their own, at frames that nobody knows before the run.
    if phase not in recipe.phases and not (phase is None and {"text", "decode"} & {*recipe.phases}):
        raise SpecError(
            f"{edit.recipe} cannot be applied at frame {edit.frame}"
            f"{'' if phase is None else f' ({FRAME_WORDS[phase]})'}; {_where(recipe)}"
        )
    return recipe


def values_of(edit: Edit) -> dict[str, Value]:
    """The arguments of an edit, defaults included.

    Raises:
        SpecError: the recipe, an argument or the frame cannot be.
    """
    return recipe_of(edit).values(edit.arguments)


FRAME_WORDS = {"voice": "the voice prefill", "text": "the text prefill", "decode": "a decode step"}
WHERE = {
    "voice": "at frame 0, the voice prefill",
    "text": "at frame 1, the text prefill",
    "decode": "from frame 2 on, the decode steps",
}


def _where(recipe: Recipe) -> str:
    return "it can be applied " + ", or ".join(WHERE[phase] for phase in recipe.phases)


def _meant(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, RECIPES, 3)
    return f": did you mean {' or '.join(close)}?" if close else ""
