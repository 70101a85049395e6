"""Holds foreign data against the annotations of our dataclasses.

A file or a message may hold anything anywhere: SQLite stores a text in an INTEGER column, JSON a
list where a number belongs. What passes here has the types that the rest of the house relies on.
"""

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

T = TypeVar("T")
Column = tuple[str, frozenset[type], bool]  # name, types it may have, whether it is a bool

_KINDS: dict[type[Any], dict[str, Any]] = {}
_COLUMNS: dict[type[Any], list[Column]] = {}


def misfit(cls: type[Any], values: Mapping[str, object]) -> str | None:
    """What is wrong with `values` as fields of the dataclass `cls`, in words; None if they fit."""
    kinds = _kinds(cls)
    for name, value in values.items():
        if name not in kinds:
            return f"there is no {name}"
        if not fits(value, kinds[name]):
            return f"{name} is {_shown(value)}, but must be {_words(kinds[name])}"
    return None


def from_row(cls: type[T], row: Sequence[object]) -> T:
    """The dataclass `cls` from a row of an SQLite table, in the order of its fields.

    Raises:
        ValueError: a value of another type, or too many or too few of them.
    """
    columns = _columns(cls)
    if len(row) != len(columns):
        raise ValueError(f"{cls.__name__} has {len(row)} columns instead of {len(columns)}")
    values = {}
    for (name, allowed, convert), value in zip(columns, row, strict=True):
        if type(value) not in allowed:
            raise ValueError(f"{name} of {cls.__name__} is {_shown(value)}")
        values[name] = bool(value) if convert else value
    return cls(**values)


def fits(value: object, kind: Any) -> bool:  # noqa: ANN401 -- an annotation may be any form
    """Whether a value, as JSON gives it, has the type that an annotation names."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if kind in (int, float):
        numbers = (int, float) if kind is float else (int,)
        return isinstance(value, numbers) and not isinstance(value, bool)
    if origin is tuple:
        return isinstance(value, (tuple, list)) and all(fits(each, inner[0]) for each in value)
    if origin is list:
        return isinstance(value, list) and all(fits(each, inner[0]) for each in value)
    if origin is not None:  # dict and Mapping
        return isinstance(value, Mapping) and all(
            fits(name, inner[0]) and fits(each, inner[1]) for name, each in value.items()
        )
    return isinstance(value, kind)


def _kinds(cls: type[Any]) -> dict[str, Any]:
    if cls not in _KINDS:
        hints = typing.get_type_hints(cls)
        _KINDS[cls] = {each.name: hints[each.name] for each in fields(cls)}
    return _KINDS[cls]


def _columns(cls: type[Any]) -> list[Column]:
    if cls not in _COLUMNS:
        kinds = _kinds(cls).items()
        _COLUMNS[cls] = [(name, frozenset(_stored(kind)), kind is bool) for name, kind in kinds]
    return _COLUMNS[cls]


def _stored(kind: Any) -> set[type]:  # noqa: ANN401
    """The types that SQLite may give for a field."""
    if get_origin(kind) in (Union, types.UnionType):
        return {each for part in get_args(kind) for each in _stored(part)}
    if get_origin(kind) is Literal:
        return {str}
    stored: dict[Any, set[type]] = {bool: {int}, float: {int, float}}
    return stored.get(kind, {get_origin(kind) or kind})


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _words(kind: Any) -> str:  # noqa: ANN401
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(_words(each) for each in get_args(kind))
    if kind is type(None):
        return "nothing"
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    return names.get(kind, "a list" if get_origin(kind) in (list, tuple) else "an object")
