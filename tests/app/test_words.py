"""Numbers as a person would say them."""

import pytest

from kvstudio.app.words import as_sentence, counted, in_bytes, in_count, in_time


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (8_716_960, "8.7 MB"),
        (420e6, "420 MB"),
        (3e15, "3000 TB"),
    ],
)
def test_bytes(size: float, words: str) -> None:
    assert in_bytes(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "less than a second"), (12.3, "12 s"), (60, "1 min"), (200, "3 min 20 s"),
        (3600, "1 h"), (3900, "1 h 5 min"),
    ],
)  # fmt: skip
def test_durations(seconds: float, words: str) -> None:
    assert in_time(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(811, "811"), (99_999, "99,999"), (150_000, "150 k"), (2_087_360, "2.1 M"), (117e6, "117 M")],
)
def test_counts(number: float, words: str) -> None:
    assert in_count(number) == words


def test_one_thing_and_several() -> None:
    assert (counted(1, "chunk"), counted(3, "chunk")) == ("1 chunk", "3 chunks")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("there is no run", "There is no run"),
        ("config.yaml is broken", "config.yaml is broken"),
        ("/a/b: is damaged", "/a/b: is damaged"),
        ("", ""),
    ],
)
def test_sentences_begin_with_a_capital_but_names_do_not(words: str, sentence: str) -> None:
    assert as_sentence(words) == sentence
