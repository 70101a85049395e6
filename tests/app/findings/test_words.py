"""A finding's place in the short words of the list."""

import pytest

from kvstudio.analysis.finding import Finding
from kvstudio.app.findings.words import count_words, finding_slots, layer_words


def finding(**facts: object) -> Finding:
    return Finding(kind="hole", severity="error", message="", **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"cache": 1, "layer": 1}, "L1"),
        ({"cache": 1, "layer": 1, "caches": (1, 2, 3)}, "L1 +2"),
        ({"cache": 99, "layer": 4}, "L4"),
        ({"layer": "decoder.model.0.previous"}, "codec"),
        ({}, ""),
    ],
    ids=["a layer", "several", "an unknown cache", "an entry", "none"],
)
def test_the_layer(facts: dict[str, object], words: str) -> None:
    assert layer_words(finding(**facts), {1: "L1"}) == words


def test_slots_and_count() -> None:
    assert finding_slots(finding(slots=(3, 9), kv="V")) == "V 3-8"
    assert finding_slots(finding()) == ""
    assert count_words(finding(count=1)) == ""
    assert count_words(finding(count=1200)).startswith("1,200")
