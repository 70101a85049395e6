"""`kvstudio faults`: the recipes, for a reader and for a program."""

import json

from kvstudio.recording.recipes import RECIPES
from tests.cli.conftest import Kvstudio


def test_as_json(kvstudio_command: Kvstudio) -> None:
    told = kvstudio_command("faults", "--json")
    recipes = json.loads(told.out)
    assert (told.code, told.err) == (0, "")
    assert [each["name"] for each in recipes] == list(RECIPES)
    assert all({"name", "kind", "arguments", "says"} <= set(each) for each in recipes)


def test_for_a_reader(kvstudio_command: Kvstudio) -> None:
    told = kvstudio_command("faults")
    assert told.code == 0
    assert max(map(len, told.out.splitlines())) <= 100
    for name, recipe in RECIPES.items():
        line = next(each for each in told.out.splitlines() if each.startswith(f"{name}@"))
        assert line == f"{name}@{recipe.frame}".ljust(30) + f" {recipe.kind}"


def test_a_recipe_that_is_not_there_ends_the_command(kvstudio_command: Kvstudio) -> None:
    told = kvstudio_command("check", "--demo", "--edit", "of-by-one-read@6")
    assert told.code == 2
    assert told.out == ""
    assert "unknown recipe 'of-by-one-read': did you mean off-by-one-read" in told.err
