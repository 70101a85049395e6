"""The catalogue of faults, and the text that asks for one."""

import json
from collections import Counter

import pytest

from kvstudio.recording.errors import SpecError
from kvstudio.recording.recipes import (
    GROUPS,
    RECIPES,
    Recipe,
    edit_text,
    parse_edit,
    values_of,
)
from kvstudio.recording.spec import Edit, RunSpec

KINDS = frozenset(
    "unwritten-read dropped-write capacity-exceeded overwrite stale-read hole offset-skew "
    "offset-jump position-mismatch expansion-corrupt dtype-mismatch device-mismatch nan-produced "
    "nan-laundered prefix-order marker-missing foreign-state mask-future window-mismatch "
    "codec-state-reset codec-state-stale codec-step-mismatch no-eos early-eos length-cut "
    "shared-state audio-silence audio-click audio-nan audio-clipped".split()
)
EVERY = list(RECIPES.values())


def test_every_kind_of_bug_report_has_three_recipes() -> None:
    count = Counter(recipe.bug for recipe in EVERY)
    assert {f"K{number}" for number in range(1, 15)} | {"article", "poke"} == set(count)
    assert min(count.values()) >= 3


def test_names_are_told_apart() -> None:
    assert len(RECIPES) == sum(len(group) for _, group in GROUPS)


@pytest.mark.parametrize("recipe", EVERY, ids=lambda recipe: recipe.name)
def test_a_recipe_holds_together(recipe: Recipe) -> None:
    assert {recipe.kind, *recipe.follows} <= KINDS
    assert recipe.says.endswith(".")
    assert recipe.phases
    assert json.loads(json.dumps(recipe.to_json()))["name"] == recipe.name
    for arguments in ("", *recipe.variants):
        text = f"{recipe.name}{':' if arguments else ''}{arguments}@{recipe.frame}"
        assert edit_text(parse_edit(text)) == text


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("poke-zero@0", Edit("poke-zero", 0)),
        ("poke-zero:@5", Edit("poke-zero", 5)),
        ("poke-voice:voice=a@b.wav@5", Edit("poke-voice", 5, {"voice": "a@b.wav"})),
        ("poke-voice:voice=a=b,layer=3@5", Edit("poke-voice", 5, {"voice": "a=b", "layer": "3"})),
    ],
)
def test_edits_are_read(text: str, edit: Edit) -> None:
    assert parse_edit(text) == edit


@pytest.mark.parametrize("text", ["", "@", "@3", "poke", "poke@", "poke@-1", "poke@x", "poke:a@3"])
def test_what_is_no_edit_is_said_with_the_form(text: str) -> None:
    with pytest.raises(SpecError, match=r"cannot read the edit .* write RECIPE@FRAME"):
        parse_edit(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("poke@3", "unknown recipe 'poke': did you mean poke-nan or .*; see kvstudio faults"),
        ("xyzzy@3", "unknown recipe 'xyzzy'; see kvstudio faults"),
        ("poke-nan:lair=2@3", "poke-nan has no argument 'lair'; it has layer, slot, count, kv, he"),
        ("no-marker:layer=2@0", "no-marker has no argument 'layer'; it has none"),
        ("poke-nan:layer=two@3", "poke-nan: layer is 'two', but must be the number of a layer"),
        ("poke-nan:layer=-1@3", "layer is '-1', but must be the number of a layer, or `all`"),
        ("poke-nan:count=0@3", "count is '0', but must be a whole number, 1 or more"),
        ("poke-nan:slot=1.5@3", "slot is '1.5', but must be the number of a slot; negative"),
        ("poke-nan:kv=Q@3", "kv is 'Q', but must be both, K or V"),
        ("poke-voice:voice= @3", "voice is ' ', but must be a name or a path"),
        ("ends-early:threshold=nan@3", "threshold is 'nan', but must be a number"),
        ("off-by-one-read:frames=0@3", "frames is '0', but must be how many frames, or `on`"),
        ("no-marker@3", "cannot be applied at frame 3; it can be applied at frame 0, the voice"),
        ("shrink-expansion@0", r"at frame 0 \(the voice prefill\); it can be applied at frame 1"),
        ("frozen-slot@1", r"at frame 1 \(the text prefill\); .* from frame 2 on, the decode steps"),
    ],
)
def test_what_there_is_not_is_said(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse_edit(text)


def test_an_edit_of_a_spec_is_held_to_the_same() -> None:
    with pytest.raises(SpecError, match="frame -1 is before the first one"):
        values_of(Edit("poke-nan", -1))


def test_values() -> None:
    edit = parse_edit("poke-nan:slot=-2,head=1@4")
    wanted = {"layer": None, "slot": -2, "count": 1, "kv": "both", "head": 1}
    assert values_of(edit) == wanted
    assert values_of(parse_edit("coarse-kv:scale=1e-2@4"))["scale"] == 0.01
    assert values_of(parse_edit("rope-clamp@4"))["limit"] is None


def test_a_spec_keeps_its_edits() -> None:
    spec = RunSpec(edits=(parse_edit("poke-nan:slot=-2@4"), parse_edit("no-marker@0")))
    assert RunSpec.from_json(spec.to_json()) == spec
