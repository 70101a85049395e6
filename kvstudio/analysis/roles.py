"""What part an op plays in the life of a NaN: producer, reader, carrier or launderer.

role_of("aten.log.default", nan_in=0, nan_out=1)   # "producer"
ROLE_WORDS["producer"]                             # what a user is told

What is normal although it deals in NaN, such as the start marker, is named in `normal.py`.
"""

from typing import Literal

Role = Literal["producer", "reader", "carrier", "launderer"]
FINITE, NAN = 0, 1

ROLE_WORDS: dict[Role, str] = {
    "producer": "takes no NaN and gives one: here a NaN begins",
    "reader": "reads a slot that nobody has written",
    "carrier": "takes NaN and gives it on",
    "launderer": "takes NaN and gives finite numbers: from here on the NaN cannot be seen",
}

# They ask about NaN, or answer a question; no number comes out that could hide one.
PROBES = frozenset(
    "isnan isfinite isinf isposinf isneginf isreal eq ne lt le gt ge equal allclose isclose "
    "logical_not logical_and logical_or any all is_nonzero _assert_async "
    "argmax argmin".split()
)
# They only move numbers, perhaps not the NaN among them. In place: what they write over is gone.
MOVERS = frozenset(
    "copy_ copy clone contiguous _to_copy cat stack index_select index gather narrow_copy "
    "select_scatter slice_scatter repeat repeat_interleave roll flip _reshape_copy lift_fresh_copy "
    "constant_pad_nd embedding unfold im2col split_with_sizes_copy unbind_copy".split()
)
# They make numbers from nothing, over whatever was there.
MAKERS = frozenset(
    "full full_like new_full fill fill_ zero zero_ zeros_like ones_like new_zeros new_ones "
    "empty_like new_empty rand_like randn_like normal_ uniform_ normal bernoulli_ "
    "exponential_ resize_ set_ scalar_tensor arange linspace".split()
)
WHOLE_NUMBERS = ("i8[", "i16[", "i32[", "i64[", "u8[", "bool[")


def role_of(
    name: str,
    nan_in: int | None,
    nan_out: int | None,
    *,
    unwritten: bool = False,
    results: str = "",
) -> Role | None:
    """The role of an op; None if it has to do with no NaN and reads only what was written.

    Args:
        name: such as `aten.where.self`.
        nan_in: 0 finite, 1 NaN, 2 Inf, None not looked at.
        nan_out: the same.
        unwritten: whether it read a slot that nobody has written.
        results: shapes and dtypes of the results in words, as a recording has them.
    """
    if unwritten:
        return "reader"
    if nan_in is None or nan_out is None:
        return None
    if nan_out == NAN:
        return "carrier" if nan_in == NAN else None if base_name(name) in MAKERS else "producer"
    return "launderer" if nan_in == NAN and hides_nan(name, results) else None


def hides_nan(name: str, results: str = "") -> bool:
    """Whether an op that took NaN and gave none has hidden it, rather than moved something else."""
    base = base_name(name)
    if base in PROBES or base in MAKERS:
        return False
    return base not in MOVERS or results.startswith(WHOLE_NUMBERS)


def base_name(name: str) -> str:
    """The op without namespace and overload: `where` of `aten.where.self`."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else name
