"""Which module of the model is running now, per thread, and what rotary embeddings are given.

Each module's `forward` is wrapped on the instance. torch's own forward hooks would do, but with one
global hook in place every module call takes torch's slow path, which costs ten times as much.
"""

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from kvstudio.engine.wrapping import wrapped

ROPES_KEPT = 4096  # many times the layers of a model; a step that nobody traces clears none
_stacks = threading.local()


def module_stack() -> list[str]:
    """The paths of the modules running in this thread, innermost last; kept up to date in place."""
    if not hasattr(_stacks, "stack"):
        _stacks.stack = []
    stack: list[str] = _stacks.stack
    return stack


def rope_positions() -> deque[tuple[str, int]]:
    """(module that asked, position) of the last calls of rotary embeddings in this thread.

    Whoever reads it clears it.
    """
    if not hasattr(_stacks, "ropes"):
        _stacks.ropes = deque(maxlen=ROPES_KEPT)
    ropes: deque[tuple[str, int]] = _stacks.ropes
    return ropes


@contextmanager
def following_modules(root: torch.nn.Module) -> Iterator[None]:
    """While entered, `module_stack` knows the modules below `root` by their names."""
    with ExitStack() as wrappers:
        for module, wrapper in module_wrappers(root):
            wrappers.enter_context(wrapped(module, "forward", wrapper))
        yield


def module_wrappers(root: torch.nn.Module) -> Iterator[tuple[torch.nn.Module, Callable[..., Any]]]:
    """For every module below `root` what is to stand around its `forward`."""
    for name, module in root.named_modules():
        if name:
            rotary = "rotary" in type(module).__name__.lower()
            yield module, _under_rotary(name) if rotary else _under(name)


def _under(name: str) -> Callable[..., Any]:
    def forward(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        stack = module_stack()
        stack.append(name)
        try:
            return original(*args, **kwargs)
        finally:
            stack.pop()

    return forward


def _under_rotary(name: str) -> Callable[..., Any]:
    """A rotary embedding is shared by the layers, so it is the caller that tells them apart."""
    inner = _under(name)

    def forward(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        stack = module_stack()
        position = number_in(kwargs.get("offset", args[2] if len(args) > 2 else 0))
        if position is not None and stack:
            rope_positions().append((stack[-1], position))
        return inner(original, *args, **kwargs)

    return forward


def number_in(value: object) -> int | None:
    """A whole number, also out of a tensor, without an op that would be traced as the model's."""
    try:
        if isinstance(value, torch.Tensor):
            if value.numel() == 0 or value.device.type != "cpu" or value.dtype != torch.int64:
                return None
            return ctypes.c_int64.from_address(value.data_ptr()).value
        return int(value) if isinstance(value, (int, float)) else None
    except (RuntimeError, ValueError, OverflowError):  # a tensor without memory; NaN or infinity
        return None
