"""A run spec survives storage, and refuses in words what cannot be run."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvstudio.recording.errors import SpecError
from kvstudio.recording.spec import (
    MODEL_KINDS,
    TRACE_LEVELS,
    Edit,
    ModelSource,
    RunSpec,
)

# Half a surrogate pair is what a file name that is not Unicode becomes in Python.
TEXT = st.text() | st.just("caf\udce9.wav")
NAME = st.text(min_size=1).filter(str.strip)
MAYBE_COUNT = st.none() | st.integers(1, 10**6)
MODELS = st.builds(
    ModelSource,
    kind=st.sampled_from(MODEL_KINDS),
    value=NAME,
    config=TEXT,
    quantize=st.booleans(),
    device=NAME,
)
EDITS = st.builds(
    Edit, recipe=TEXT, frame=st.integers(), arguments=st.dictionaries(TEXT, TEXT, max_size=3)
)
SPECS = st.builds(
    RunSpec,
    model=MODELS,
    voice=TEXT,
    text=TEXT,
    seed=st.integers(0, 2**63 - 1),
    temperature=st.none() | st.floats(0, 1e300),
    decode_steps=MAYBE_COUNT,
    eos_threshold=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    frames_after_eos=st.none() | st.integers(0, 1000),
    max_tokens=MAYBE_COUNT,
    copy_state=st.booleans(),
    trace=st.sampled_from(TRACE_LEVELS),
    edits=st.lists(EDITS, max_size=3).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def test_what_a_script_did_cannot_be_run_again() -> None:
    spec = RunSpec(model=ModelSource("script", "english"), voice="of a script", text="")
    assert RunSpec.from_json(spec.to_json()) == spec
    assert spec.model.title == "english"
    with pytest.raises(SpecError, match=r"recorded from a script.*run the script again"):
        spec.require_runnable()


@settings(deadline=None)
@given(spec=SPECS)
def test_comes_back_as_it_was(spec: RunSpec) -> None:
    assert RunSpec.from_json(spec.to_json()) == spec
    spec.to_json().encode("ascii")


@settings(deadline=None)
@given(text=st.text() | JSON.map(json.dumps))
def test_garbage_is_a_spec_error_or_a_spec(text: str) -> None:
    with suppress(SpecError):
        assert isinstance(RunSpec.from_json(text), RunSpec)


@settings(deadline=None)
@given(field=st.sampled_from(sorted(json.loads(RunSpec().to_json()))), value=JSON)
def test_any_value_in_any_field_is_refused_or_comes_back(field: str, value: object) -> None:
    with suppress(SpecError):
        spec = RunSpec.from_dict({field: value})
        assert RunSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"seed": -1}, "seed must be between 0"),
        ({"seed": 2**63}, "seed must be between 0"),
        ({"seed": "1"}, "seed is '1', but must be a whole number"),
        ({"seed": True}, "seed is True"),
        ({"text": 5}, "text is 5, but must be a text"),
        ({"temperature": -0.1}, "temperature must be 0 or more"),
        ({"temperature": float("nan")}, "temperature must be 0 or more"),
        ({"temperature": float("inf")}, "temperature must be 0 or more"),
        ({"temperature": "warm"}, "temperature is 'warm', but must be a number or nothing"),
        ({"eos_threshold": float("nan")}, "EOS threshold must be a number"),
        ({"decode_steps": 0}, "decode steps must be 1 or more"),
        ({"frames_after_eos": -1}, "frames after EOS must be 0 or more"),
        ({"max_tokens": 0}, "max tokens must be 1 or more"),
        ({"copy_state": 1}, "copy_state is 1, but must be true or false"),
        ({"trace": "loud"}, "unknown trace level 'loud'; known: full, cache, off"),
        ({"trace": []}, "unknown trace level []"),
        ({"speed": 2}, "there is no speed"),
        ({"model": "english"}, "ModelSource must be an object, found str"),
        ({"model": {"kind": "guess"}}, "unknown kind of model 'guess'; known: demo, language"),
        ({"model": {"kind": "language"}}, "no language given for the model"),
        ({"model": {"kind": "config", "value": " "}}, "no config given"),
        ({"model": {"kind": "config", "value": 3}}, "value is 3, but must be a text"),
        ({"model": {"size": 3}}, "there is no size"),
        ({"edits": "poke"}, "edits must be a list"),
        ({"edits": ["poke"]}, "Edit must be an object"),
        ({"edits": [{"recipe": "poke"}]}, "an edit needs a recipe and a frame"),
        ({"edits": [{"recipe": "poke", "frame": 1.5}]}, "frame is 1.5"),
        ({"edits": [{"recipe": "p", "frame": 1, "arguments": {"a": 1}}]}, "arguments is {'a': 1}"),
        ([], "RunSpec must be an object, found list"),
        ({"text": ["x" * 100]}, "text is ['xxxxxxxxx"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_says_what_is_wrong(data: object, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        RunSpec.from_dict(data)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"seed": ' + "9" * 5000 + "}"])
def test_what_is_not_json_is_said(text: str) -> None:
    with pytest.raises(SpecError):
        RunSpec.from_json(text)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (RunSpec(text=" \n"), "no text to speak"),
        (RunSpec(voice=""), "no voice chosen"),
    ],
)
def test_a_spec_may_be_incomplete_until_it_is_run(spec: RunSpec, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        spec.require_runnable()


def test_the_default_runs() -> None:
    RunSpec().require_runnable()


def test_an_edit_more_leaves_the_spec_as_it_was() -> None:
    spec, edit = RunSpec(), Edit("poke", 3)
    edited = spec.with_edit(edit).with_edit(edit)
    assert edited.edits == (edit, edit)
    assert spec.edits == ()


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (ModelSource(), "demo"),
        (ModelSource("language", "english", quantize=True), "english (int8)"),
        (ModelSource("config", "/home/me/my.yaml"), "my.yaml"),
        (ModelSource("checkpoint", r"C:\runs\last.pt"), "last.pt"),
    ],
)
def test_title_of_a_model(source: ModelSource, title: str) -> None:
    assert source.title == title
