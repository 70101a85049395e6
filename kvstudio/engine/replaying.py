"""Runs ops that move numbers about once more, on labels instead of the numbers.

What an op such as `cat` or `index_select` does to the cells of a cache is just what it does to any
other numbers, so nobody needs to know it: the labels of the cells go through the very same op.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from kvstudio.engine.raw_calls import Kept, RawCall

Labels = Callable[[Tensor], Tensor | None]
# Arguments that say of which kind the result is to be; labels stay what they are.
KIND = frozenset({"dtype", "device", "memory_format", "layout", "pin_memory", "non_blocking"})
PLAIN_COPIES = frozenset({"clone", "_to_copy", "contiguous", "lift_fresh", "copy", "abs", "neg"})
# They write to some elements of their target only, which indices or a mask pick.
PICKING = frozenset(
    "index_copy_ index_put_ _index_put_impl_ index_fill_ scatter_ masked_fill_ masked_scatter_ "
    "put_ index_add_ scatter_add_ index_reduce_ scatter_reduce_".split()
)
# They replace what was in their target without looking at it.
REPLACING = frozenset(
    "copy_ fill_ zero_ set_ normal_ uniform_ index_copy_ index_put_ _index_put_impl_ index_fill_ "
    "scatter_ masked_fill_ masked_scatter_ put_ foreach_copy_".split()
)


def carried(kept: Kept, labels: Labels) -> Tensor | None:
    """The labels of the result of an op that moves numbers about; None if it cannot be told."""
    name = kept.func._schema.name.partition("::")[2]
    first = kept.args[0] if kept.args else None
    if name in PLAIN_COPIES and isinstance(first, Tensor):
        return labels(first)
    return _again(kept, lambda tensor: _labelled(tensor, labels))


def written_labels(call: RawCall, kept: Kept, target: Tensor, labels: Labels) -> Tensor | None:
    """The labels that a write leaves in its target; None if what it writes is new."""
    name = _name(call)
    if name == "copy_":
        own = labels(kept.args[1])
        return None if own is None else own.expand(target.shape)
    if name in PICKING and name in REPLACING:
        sources = [each for each in kept.args[1:] if isinstance(each, Tensor)]
        if any(labels(each) is not None for each in sources):
            return _again(kept, lambda tensor: _labelled(tensor, labels).clone())
    return None


def written_mask(call: RawCall, kept: Kept, target: Tensor) -> Tensor | None:
    """Which elements of the target a picking op writes, in its shape; None: all of them."""
    if _name(call) not in PICKING:
        return None

    def marked(tensor: Tensor) -> Tensor:
        if tensor is target:
            return torch.zeros(tensor.shape, dtype=torch.int32)
        return torch.ones(tensor.shape, dtype=torch.int32)

    written = _again(kept, marked, number=1)
    return None if written is None else written != 0


def uses_target(call: RawCall) -> bool:
    """Whether a write computes with what was in its target."""
    return _name(call) not in REPLACING


def _again(kept: Kept, convert: Callable[[Tensor], Tensor], number: int = 0) -> Tensor | None:
    """The op on converted tensors; indices and masks stay, plain numbers become `number`."""

    def replaced(value: Any, name: str) -> Any:
        if isinstance(value, Tensor):
            index = name in ("index", "indices", "mask", "condition") or not _carries(value)
            return value.cpu() if index else convert(value)
        if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
            return [replaced(each, name) for each in value]
        return number if isinstance(value, float) or name == "value" else value

    names = [argument.name for argument in kept.func._schema.arguments]
    args = [replaced(value, name) for value, name in zip(kept.args, names, strict=False)]
    kwargs: Mapping[str, Any] = {
        name: replaced(value, name) for name, value in kept.kwargs.items() if name not in KIND
    }
    try:
        with torch.no_grad():
            result = kept.func(*args, **kwargs)
    except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
        return None
    return result if isinstance(result, Tensor) else None


def _carries(tensor: Tensor) -> bool:
    """Whether a tensor holds numbers of the model, not indices or a mask."""
    return tensor.is_floating_point() or tensor.is_complex() or tensor.is_quantized


def _labelled(tensor: Tensor, labels: Labels) -> Tensor:
    own = labels(tensor)
    return torch.zeros(tensor.shape, dtype=torch.int32) if own is None else own


def _name(call: RawCall) -> str:
    return str(call.facts.name.split(".")[1])
