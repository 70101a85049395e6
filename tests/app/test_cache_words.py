"""Caches, slots and touches in words."""

import pytest

from kvstudio.app.cache_words import cache_label, cache_title, slots_words, touches_words
from kvstudio.recording.rows import Cache, Touch

LABELS = {0: "L0", 2: "L2"}


@pytest.mark.parametrize(
    ("model", "name", "label", "title"),
    [
        ("flow_lm", "transformer.layers.2.self_attn", "L2", "FlowLM layer 2"),
        ("mimi", "decoder_transformer.layers.2", "D2", "Mimi decoder layer 2"),
        ("mimi", "encoder_transformer.layers.2", "E2", "Mimi encoder layer 2"),
    ],
)
def test_names_of_caches(model: str, name: str, label: str, title: str) -> None:
    cache = Cache(7, model, name, 2, 1, 2, 8, None, "float32", "cpu")
    assert (cache_label(cache), cache_title(cache)) == (label, title)


@pytest.mark.parametrize(
    ("first", "last", "words"), [(52, 53, "52"), (0, 53, "0-52"), (210, 210, "none at 210")]
)
def test_slots(first: int, last: int, words: str) -> None:
    assert slots_words(first, last) == words


@pytest.mark.parametrize(
    ("touches", "words"),
    [
        ([], ""),
        ([Touch(2, 1, 52, 53, True)], "writes V 52 of L2"),
        ([Touch(0, 0, 0, 53, False), Touch(0, 1, 0, 53, False)], "reads K+V 0-52 of L0"),
        (
            [Touch(0, 0, 0, 5, False), Touch(0, 0, 5, 6, True)],
            "writes K 5 of L0, reads K 0-4 of L0",
        ),
        ([Touch(0, 0, 210, 210, True)], "writes K none at 210 of L0"),
        ([Touch(9, 2, 0, 1, False)], "reads K+V 0 of cache 9"),
        ([Touch(0, 5, 0, 1, False)], "reads part 5 0 of L0"),
    ],
    ids=["none", "write", "both", "writes first", "dropped", "unknown cache", "unknown part"],
)
def test_touches(touches: list[Touch], words: str) -> None:
    assert touches_words(touches, LABELS) == words
