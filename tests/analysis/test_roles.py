"""The parts that ops play in the life of a NaN."""

import pytest

from kvstudio.analysis.roles import ROLE_WORDS, Role, role_of

LINEAR = "quantized.linear_dynamic.default"


@pytest.mark.parametrize(
    ("name", "nan_in", "nan_out", "role"),
    [
        ("aten.log.default", 0, 1, "producer"),
        ("aten.sub.Tensor", 2, 1, "producer"),
        ("aten.mul.Tensor", 1, 1, "carrier"),
        ("aten.slice.Tensor", 1, 1, "carrier"),
        (LINEAR, 1, 0, "launderer"),
        ("aten.where.self", 1, 0, "launderer"),
        ("aten.nan_to_num.default", 1, 2, "launderer"),
        ("aten.masked_fill.Scalar", 1, 0, "launderer"),
        ("aten.mul.Tensor", 0, 0, None),
        ("aten.where.self", 2, 2, None),
        ("aten.isnan.default", 1, 0, None),
        ("aten.gt.Scalar", 1, 0, None),
        ("aten.copy_.default", 1, 0, None),
        ("aten.full.default", 0, 1, None),
        ("aten.mul.Tensor", None, None, None),
        ("aten.mul.Tensor", 1, None, None),
    ],
)
def test_the_role_of_an_op(
    name: str, nan_in: int | None, nan_out: int | None, role: Role | None
) -> None:
    assert role_of(name, nan_in, nan_out) == role


def test_a_read_of_unwritten_slots_makes_a_reader_whatever_came_out() -> None:
    assert role_of("aten.mm.default", 0, 1, unwritten=True) == "reader"
    assert role_of(LINEAR, 0, 0, unwritten=True) == "reader"
    assert role_of("aten.mm.default", None, None, unwritten=True) == "reader"


def test_a_cast_to_whole_numbers_hides_a_nan_and_a_cast_to_halves_does_not() -> None:
    cast = "aten._to_copy.default"
    assert role_of(cast, 1, 0, results="i16[1920]") == "launderer"
    assert role_of(cast, 1, 0, results="f16[1920]") is None


def test_every_role_has_words() -> None:
    assert set(ROLE_WORDS) == {"producer", "reader", "carrier", "launderer"}
