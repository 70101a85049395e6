"""One op in words."""

import pytest

from kvstudio.app.op_words import nan_sentence, nan_words, op_details
from kvstudio.recording.rows import Op


def op(nan_in: int | None = 0, nan_out: int | None = 0, began_ns: int = 0) -> Op:
    site = ("pocket_tts/x.py", 3, "f")
    return Op("aten.t.default", 0, "", site, "", "", "T", began_ns, 1500, nan_in, nan_out)


@pytest.mark.parametrize(
    ("nan_in", "nan_out", "words", "sentence"),
    [
        (0, 0, "", "none taken, none given"),
        (1, 1, "NaN→NaN", "NaN taken and given on"),
        (0, 1, "→NaN", "gives NaN, but took none"),
        (1, 0, "NaN→", "took NaN, gives none"),
        (2, 2, "Inf→Inf", "takes Inf, gives Inf"),
        (2, 0, "Inf→", "takes Inf, gives finite numbers"),
        (0, 2, "→Inf", "takes finite numbers, gives Inf"),
        (2, 1, "Inf→NaN", "gives NaN, but took none"),
        (None, None, "?→?", "not looked at"),
    ],
)
def test_nan(nan_in: int | None, nan_out: int | None, words: str, sentence: str) -> None:
    assert nan_words(op(nan_in, nan_out)) == words
    assert nan_sentence(op(nan_in, nan_out)) == sentence


def test_an_op_of_which_little_is_known_is_described_all_the_same() -> None:
    details = dict(op_details(op(began_ns=-2_000_000), None, {}))
    assert details["op"] == "aten.t.default, number -1, frame -1, part voice"
    assert details["slots"] == "touches no cache"
    assert details["arguments"] == details["result"] == "no tensor"
    assert details["module"] == "outside of any module"
    assert details["time"] == "1.5 µs, began 2.000 ms before the run"
