"""Messages survive the pipe, and garbage on it is refused in words."""

import json
import typing
from contextlib import suppress
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvstudio.recording.errors import ProtocolError
from kvstudio.recording.protocol import (
    COMMANDS,
    ENGINE_STATES,
    EVENTS,
    Failed,
    Log,
    Message,
    Run,
    State,
    Step,
    parse_command,
    parse_event,
)

EVERY = [*COMMANDS.values(), *EVENTS.values()]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def messages(kind: type[Message]) -> st.SearchStrategy[Message]:
    return st.builds(
        kind,
        **{each.name: _values(typing.get_type_hints(kind)[each.name]) for each in fields(kind)},
    )


def _values(hint: object) -> st.SearchStrategy[object]:
    objects = st.dictionaries(st.text(), JSON, max_size=3)
    known: dict[object, st.SearchStrategy[object]] = {
        bool: st.booleans(),
        int: st.integers(),
        str: st.text() | st.just("\udce9\n\u2028"),
        float: st.floats(allow_nan=False),
        list[str]: st.lists(st.text(), max_size=3),
        dict[str, str]: st.dictionaries(st.text(), st.text(), max_size=3),
        dict[str, typing.Any]: objects,
        list[dict[str, typing.Any]]: st.lists(objects, max_size=3),
        int | None: st.none() | st.integers(),
        float | None: st.none() | st.floats(allow_nan=False),
    }
    return known[hint]


@settings(deadline=None)
@given(message=st.sampled_from(EVERY).flatmap(messages))
def test_comes_back_as_it_was_in_one_line(message: Message) -> None:
    line = message.to_line()
    parse = parse_command if message.key == "do" else parse_event
    assert parse(line) == message
    assert line.splitlines() == [line.removesuffix("\n")]
    line.encode("ascii")


@settings(deadline=None)
@given(line=st.text() | JSON.map(json.dumps))
def test_garbage_is_refused(line: str) -> None:
    for parse in (parse_command, parse_event):
        with pytest.raises(ProtocolError):
            parse(line)


@settings(deadline=None)
@given(
    kind=st.sampled_from(EVERY),
    changes=st.dictionaries(st.sampled_from(["count", "until", "spec", "x", "text"]), JSON),
)
def test_any_value_in_a_field_is_refused_or_taken(
    kind: type[Message], changes: dict[str, object]
) -> None:
    line = json.dumps({kind.key: kind.name, **changes})
    with suppress(ProtocolError):
        message = parse_command(line) if kind.key == "do" else parse_event(line)
        assert {name: getattr(message, name) for name in changes} == changes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "not a JSON message"),
        ("step\n", "not a JSON message: 'step'"),
        ("[" * 100_000, "not a JSON message"),
        ("[]", "a message needs a 'do'"),
        ('{"event": "ready"}', "a message needs a 'do'"),
        ('{"do": 3}', "a message needs a 'do'"),
        ('{"do": "jump"}', "unknown do 'jump'; known: load, voice, budget, start, step"),
        ('{"do": "step", "frames": 3}', "'step': there is no frames"),
        ('{"do": "step", "count": "3"}', "'step': count is '3', but must be a whole number"),
        ('{"do": "run", "until": true}', "until is True, but must be a whole number or nothing"),
        ('{"do": "load", "model": []}', "model is [], but must be an object"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_says_what_is_wrong(line: str, says: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_command(line)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"do": "step"}', Step(1)),
        ('{"do": "run", "until": null}', Run(None)),
        ('{"event": "state", "state": "held", "next_frame": 3}', State("held", "", 3)),
        ('{"event": "error", "command": "step"}', Failed("step")),
        ('{"event": "log", "text": "caf\\u00e9"}', Log("stderr", "café")),
    ],
)
def test_fields_left_out_have_their_default(line: str, message: Message) -> None:
    assert (parse_command if message.key == "do" else parse_event)(line) == message


def test_states_and_names_are_unique() -> None:
    assert len(set(ENGINE_STATES)) == len(ENGINE_STATES)
    assert all(kind.name == name for name, kind in (COMMANDS | EVENTS).items())
    assert not set(COMMANDS) & set(EVENTS)
