"""What is the same for every call of an op, looked up once."""

from typing import Any

import torch

# Shares memory with its argument although it is not flagged as a view.
HIDDEN_VIEWS = frozenset({"aten::_unsafe_view"})
# Their results hold whatever lay in memory, NaN perhaps, until something is written.
BLANK = ("aten::empty", "aten::new_empty")
FLOATS = frozenset({torch.float32, torch.float64, torch.float16, torch.bfloat16})
# Their results hold numbers of their arguments as they were, in other places.
CARRIERS = frozenset(
    "clone _to_copy contiguous cat stack index_select index gather take repeat repeat_interleave "
    "where masked_fill slice_scatter select_scatter roll flip constant_pad_nd copy lift_fresh "
    "expand_copy slice_copy view_copy permute_copy transpose_copy select_copy as_strided_copy "
    # Nor do these hide anything, and `isfinite` is made of `abs`.
    "unfold_copy tril triu abs neg".split()
)


class OpFacts:
    """What is the same for every call of an op.

    Attributes:
        view: the result shares memory with an argument.
        carries: the result holds numbers of its arguments as they were, in other places.
        checked: the result is looked at for NaN.
        writes: positions of arguments that it writes into.
        names: of the arguments, in order.
        lists: positions of arguments that are lists of tensors.
        keywords: name and position of arguments that are a tensor and given by name.
        key: view, checked, writes, positions of arguments that are one tensor, whether there are
            any others; in one look.
    """

    __slots__ = (
        "carries", "checked", "key", "keywords", "lists", "name", "names", "view", "writes"
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        names: tuple[str, ...],
        view: bool,
        checked: bool,
        writes: tuple[int, ...],
        tensors: tuple[int, ...],
        lists: tuple[int, ...],
        keywords: tuple[tuple[str, int], ...],
    ) -> None:
        self.name, self.names = name, names
        self.view, self.checked, self.writes = view, checked, writes
        self.carries = name.split(".")[1] in CARRIERS
        self.lists, self.keywords = lists, keywords
        self.key = (view, checked, writes, tensors, bool(lists or keywords))


def describe(func: Any) -> OpFacts:
    """Looks up an `OpOverload` once."""
    arguments = func._schema.arguments
    kinds = [str(argument.type) for argument in arguments]
    single = [n for n, kind in enumerate(kinds) if kind in ("Tensor", "Optional[Tensor]")]
    view = bool(func.is_view) or func.name() in HIDDEN_VIEWS
    return OpFacts(
        name=str(func),
        names=tuple(argument.name for argument in arguments),
        view=view,
        checked=not view and not func.name().startswith(BLANK),
        writes=tuple(
            position
            for position, argument in enumerate(arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ),
        tensors=tuple(n for n in single if not arguments[n].kwarg_only),
        lists=tuple(
            n for n, kind in enumerate(kinds) if kind.startswith("List[") and "Tensor" in kind
        ),
        keywords=tuple((arguments[n].name, n) for n in single if arguments[n].kwarg_only),
    )
