"""How an attention op looked at its cache."""

from collections.abc import Callable

import torch

from tests.engine.test_shadow import Bench


def attended(bench: Bench, turn: Callable[[torch.Tensor], torch.Tensor]) -> int:
    """Pairs that are missing when one query sees three slots, the values of which are turned."""

    def work(cache: torch.Tensor) -> torch.Tensor:
        keys, values = cache[0, :, :3].transpose(1, 2), cache[1, :, :3].transpose(1, 2)
        query = torch.rand(1, 2, 1, 4)
        return torch.nn.functional.scaled_dot_product_attention(query, keys, turn(values))

    bench.move(2)
    (row,) = bench.do(work).attentions
    return row.missing


def test_values_that_come_from_other_slots_than_their_keys_are_not_attended_to() -> None:
    assert attended(Bench(), lambda values: values) == 0
    assert attended(Bench(), lambda values: values.clone()) == 0
    assert attended(Bench(), lambda values: values.roll(1, 2)) == 3
    assert attended(Bench(), lambda values: values[:, :, [0, 2, 1]]) == 2
