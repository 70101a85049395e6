"""An edit as it stands in Setup, as plain data: texts as typed, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kvstudio.recording.errors import SpecError
from kvstudio.recording.recipes import RECIPES, values_of
from kvstudio.recording.spec import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvstudio.recording.recipes import Recipe


@dataclass(frozen=True)
class EditForm:
    """`arguments` holds those that differ from the recipe's defaults."""

    recipe: str
    frame: str
    arguments: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, edit: Edit) -> EditForm:
        return cls(edit.recipe, str(edit.frame), dict(edit.arguments))

    @classmethod
    def of_recipe(cls, recipe: Recipe) -> EditForm:
        """With the recipe's defaults, at a frame at which it shows."""
        return cls(recipe.name, str(recipe.frame))

    def edit(self) -> Edit:
        """Raises SpecError: it cannot be applied as it is typed."""
        if not self.frame.strip().isdecimal():
            raise SpecError(f"the frame must be a whole number, not {self.frame!r}")
        kept = {name: text.strip() for name, text in self.arguments.items() if text.strip()}
        edit = Edit(self.recipe, int(self.frame), kept)
        values_of(edit)
        return edit

    @property
    def problem(self) -> str:
        """What is wrong, in words; empty if nothing is."""
        try:
            self.edit()
        except SpecError as error:
            return str(error)
        return ""

    @property
    def summary(self) -> str:
        """Such as `poke-nan at frame 12: layer 2, slot 7`."""
        typed = [f"{name} {text.strip()}" for name, text in self.arguments.items() if text.strip()]
        what = f"{self.recipe} at frame {self.frame.strip() or '?'}"
        return f"{what}: {', '.join(typed)}" if typed else what

    @property
    def known(self) -> Recipe | None:
        return RECIPES.get(self.recipe)
