"""Which module of the model is running now, per thread.

Each module's `forward` is wrapped on the instance. torch's own forward hooks would do, but with one
global hook in place every module call takes torch's slow path, which costs ten times as much.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from kvstudio.engine.wrapping import wrapped

_stacks = threading.local()


def module_stack() -> list[str]:
    """The paths of the modules running in this thread, innermost last; kept up to date in place."""
    if not hasattr(_stacks, "stack"):
        _stacks.stack = []
    stack: list[str] = _stacks.stack
    return stack


@contextmanager
def following_modules(root: torch.nn.Module) -> Iterator[None]:
    """While entered, `module_stack` knows the modules below `root` by their names."""
    with ExitStack() as wrappers:
        for name, module in root.named_modules():
            if name:
                wrappers.enter_context(wrapped(module, "forward", _under(name)))
        yield


def _under(name: str) -> Callable[..., Any]:
    def forward(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        stack = module_stack()
        stack.append(name)
        try:
            return original(*args, **kwargs)
        finally:
            stack.pop()

    return forward
