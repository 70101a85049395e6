"""Which module of the model is running now, per thread, from forward hooks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules import module as torch_module

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
    names = {module: name for name, module in root.named_modules() if name}

    def entered(module: torch.nn.Module, inputs: Any) -> None:
        name = names.get(module)
        if name is not None:
            try:
                _stacks.stack.append(name)
            except AttributeError:
                module_stack().append(name)

    def left(module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if module in names and module_stack():
            _stacks.stack.pop()

    # Hooks that return None leave inputs and outputs as they are.
    hooks = (
        torch_module.register_module_forward_pre_hook(entered),
        torch_module.register_module_forward_hook(left, always_call=True),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
