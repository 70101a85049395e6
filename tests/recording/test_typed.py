"""Foreign data held against annotations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from kvstudio.recording.typed import from_row, misfit


@dataclass(frozen=True)
class Thing:
    count: int
    share: float = 0.0
    name: str = ""
    sure: bool = False
    mood: Literal["calm", "loud"] = "calm"
    maybe: int | None = None
    places: tuple[int, ...] = ()
    lists: list[str] | None = None
    facts: Mapping[str, int] | None = None
    anything: Any = None


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"count": 1, "share": 1, "sure": True, "mood": "loud", "anything": object()}, None),
        ({"maybe": None, "places": [1, 2], "lists": ["a"], "facts": {"a": 1}}, None),
        ({"places": (1,), "maybe": 3, "share": 0.5}, None),
        ({"count": 1.0}, "count is 1.0, but must be a whole number"),
        ({"count": True}, "count is True, but must be a whole number"),
        ({"share": False}, "share is False, but must be a number"),
        ({"name": None}, "name is None, but must be a text"),
        ({"sure": 0}, "sure is 0, but must be true or false"),
        ({"mood": "sad"}, "mood is 'sad', but must be one of calm, loud"),
        ({"mood": ["calm"]}, "mood is ['calm'], but must be one of calm, loud"),
        ({"maybe": "1"}, "maybe is '1', but must be a whole number or nothing"),
        ({"places": [1, "2"]}, "places is [1, '2'], but must be a list"),
        ({"lists": [1]}, "lists is [1], but must be a list or nothing"),
        ({"facts": {"a": "b"}}, "facts is {'a': 'b'}, but must be an object or nothing"),
        ({"facts": {1: 1}}, "facts is {1: 1}, but must be an object or nothing"),
        ({"other": 1}, "there is no other"),
    ],
)
def test_misfit(values: dict[str, object], says: str | None) -> None:
    assert misfit(Thing, values) == says


@dataclass(frozen=True)
class Row:
    number: int
    real: float
    flag: bool
    text: str | None


@pytest.mark.parametrize("text", [None, "x"])
def test_a_row_becomes_a_dataclass(text: str | None) -> None:
    assert from_row(Row, (1, 2, 1, text)) == Row(1, 2, True, text)
    assert from_row(Row, [1, 2.5, 0, text]).flag is False


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ((1, 2.0, 1), "Row has 3 columns instead of 4"),
        ((1, 2.0, 1, "x", 5), "Row has 5 columns instead of 4"),
        (("1", 2.0, 1, "x"), "number of Row is '1'"),
        ((1.0, 2.0, 1, "x"), "number of Row is 1.0"),
        ((1, "2", 1, "x"), "real of Row is '2'"),
        ((1, 2.0, 1, b"x" * 100), "text of Row is b'xxxxx"),
    ],
)
def test_a_row_of_other_types_is_refused(row: tuple[object, ...], says: str) -> None:
    with pytest.raises(ValueError, match="Row") as caught:
        from_row(Row, row)
    assert str(caught.value).startswith(says)
    assert len(str(caught.value)) < 80
