"""Puts a wrapper around a method of one object, and takes it away without a trace."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_MISSING = object()


@contextmanager
def wrapped(owner: object, name: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """While entered, `owner.name(...)` calls `wrapper(original, ...)`.

    `original` is looked up now, so what the user patched before us is called, not bypassed.
    """
    original = getattr(owner, name)
    before = vars(owner).get(name, _MISSING)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    object.__setattr__(owner, name, call)
    try:
        yield
    finally:
        if before is _MISSING:
            object.__delattr__(owner, name)
        else:
            object.__setattr__(owner, name, before)
