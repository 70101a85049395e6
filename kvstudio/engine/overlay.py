"""Stands before methods of one object without touching the object's own attributes.

While overlaid, the object's class is one made for it, between the object and its real class:

    type(tts) -> TTSModel (ours) -> TTSModel -> Module

Its attributes for the overlaid names are data descriptors, so they come before whatever the user
has set or sets on the object, and look it up only when they are called: patches on the object or
on its class, made before or meanwhile, are called and stay where the user put them. Giving the
object its real class back leaves nothing of ours. Copies and pickles are of the real class.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_MISSING = object()


@contextmanager
def overlaid(owner: object, wrappers: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """While entered, `owner.name(...)` calls `wrappers[name](original, ...)`.

    What somebody kept of `owner.name` meanwhile only calls the original afterwards.
    """
    overlays = {name: _Overlay(name, wrapper) for name, wrapper in wrappers.items()}
    base = type(owner)
    layer = _layer(base, overlays)
    owner.__class__ = layer
    try:
        yield
    finally:
        for overlay in overlays.values():
            overlay.active = False
        if type(owner) is layer:  # else the user gave it another class, which is to stay
            owner.__class__ = base


def is_overlaid(owner: object) -> bool:
    return isinstance(type(owner), _LayerMark)


class _LayerMark(type):
    """Metaclass of our classes, beside that of the real one."""


class _Overlay:
    """A method of one object with a wrapper around it."""

    def __init__(self, name: str, wrapper: Callable[..., Any]) -> None:
        self.name, self.wrapper = name, wrapper
        self.active = True
        self.layer: type = object

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return getattr(self.layer.__base__, self.name)
        # Looked up now: the user may keep what we return and set something that calls it.
        original = vars(owner).get(self.name, _MISSING)
        if original is _MISSING:
            original = getattr(super(self.layer, owner), self.name)
        if not self.active:
            return original

        def call(_: object, *args: Any, **kwargs: Any) -> Any:
            if not self.active:
                return original(*args, **kwargs)
            return self.wrapper(original, *args, **kwargs)

        call.__name__, call.__doc__ = self.name, getattr(original, "__doc__", None)
        return types.MethodType(call, owner)

    def __set__(self, owner: Any, value: object) -> None:
        vars(owner)[self.name] = value

    def __delete__(self, owner: Any) -> None:
        try:
            del vars(owner)[self.name]
        except KeyError:
            raise AttributeError(self.name) from None


def _layer(base: type, overlays: Mapping[str, _Overlay]) -> type:
    """A class below `base` that has the overlays and otherwise passes for it."""

    def reduce(self: Any, protocol: Any) -> Any:
        reduced = super(layer, self).__reduce_ex__(protocol)
        if not isinstance(reduced, tuple) or reduced[1] != (layer,):
            return reduced
        # Not `copyreg.__newobj__`, which insists on the class that the object has now.
        return (object.__new__, (_real(layer),), *reduced[2:])

    body: dict[str, Any] = {"__module__": base.__module__, "__qualname__": base.__qualname__}
    body |= {"__doc__": base.__doc__, "__reduce_ex__": reduce, **overlays}
    layer: Any = _layer_metaclass(type(base))(base.__name__, (base,), body)
    for overlay in overlays.values():
        overlay.layer = layer
    made: type = layer
    return made


def _layer_metaclass(metaclass: type) -> type:
    """Hands on to the real class what the user sets by way of `type(tts)`."""
    before: dict[str, Any] = {}

    def set_attribute(cls: Any, name: str, value: object) -> None:
        if name.startswith("__"):
            type.__setattr__(cls, name, value)
            return
        base = cls.__base__
        before.setdefault(name, vars(base).get(name, _MISSING))
        if isinstance(value, _Overlay):  # somebody puts back what was found here
            value = before.pop(name)
        if value is _MISSING:
            delattr(base, name)
        else:
            setattr(base, name, value)

    def delete_attribute(cls: Any, name: str) -> None:
        before.setdefault(name, vars(cls.__base__).get(name, _MISSING))
        delattr(cls.__base__, name)

    bases = (metaclass,) if issubclass(metaclass, _LayerMark) else (_LayerMark, metaclass)
    bases = (_LayerMark,) if metaclass is type else bases
    body = {"__setattr__": set_attribute, "__delattr__": delete_attribute}
    made: type = type("Layer", bases, body)
    return made


def _real(cls: type) -> type:
    """The class itself, or the real one below a class of ours."""
    while isinstance(cls, _LayerMark) and cls.__base__ is not None:
        cls = cls.__base__
    return cls
