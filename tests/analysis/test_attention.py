"""Positions that an attention op's mask tells."""

from dataclasses import replace

import pytest

from kvstudio.analysis.attention import expected_window, is_shifted, mask_position
from kvstudio.recording.rows import Cache
from tests.analysis.checks.evidence import healthy

FLOW_LM = Cache(0, "flow_lm", "layer", 0, 1, 4, 32, None, "float32", "cpu")
MIMI = replace(FLOW_LM, model="mimi", context=16)


@pytest.mark.parametrize(("cache", "context"), [(FLOW_LM, None), (MIMI, 16)])
@pytest.mark.parametrize(("position", "queries"), [(0, 1), (3, 4), (40, 1), (40, 16)])
def test_a_healthy_mask_tells_the_offset(
    cache: Cache, context: int | None, position: int, queries: int
) -> None:
    row = healthy(0, position, queries=queries, context=context)
    assert mask_position(row, cache) == position
    assert not is_shifted(row, cache)
    window = expected_window(row, cache)
    assert window == (row.oldest, position + queries)


def test_a_mask_with_gaps_tells_none() -> None:
    row = healthy(0, 20)
    assert mask_position(replace(row, attended=12), FLOW_LM) is None
    assert mask_position(replace(row, oldest=5), FLOW_LM) is None
    assert mask_position(replace(row, oldest=None, newest=None), FLOW_LM) is None


def test_keys_that_were_not_handed_over_are_not_hidden_by_the_mask() -> None:
    short = replace(healthy(0, 20), newest=19, attended=20, missing=1)
    assert is_shifted(short, FLOW_LM)
    assert not is_shifted(replace(short, keys=20), FLOW_LM)
