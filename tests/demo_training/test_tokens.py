"""Texts as tokens."""

from pathlib import Path

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer

from kvstudio.paths import resources
from tests.demo_training.parts import Part


def test_tokenizer_is_the_shipped_one(part: Part, tmp_path: Path) -> None:
    part("tokenizer").make_tokenizer(tmp_path / "tokenizer.json")
    shipped = resources() / "demo" / "tokenizer.json"
    assert (tmp_path / "tokenizer.json").read_bytes() == shipped.read_bytes()


TEXTS = (
    "Hello world. I am a tiny voice.",
    " It's: 'Q' - \"z\";  x, y!?",
    "...!?",
    "I have 12 cats, \u00e9\u00e8 and 3.",
)


@pytest.mark.parametrize("text", TEXTS)
def test_both_tokenizers_give_the_same_tokens(part: Part, tmp_path: Path, text: str) -> None:
    tokens = part("tokenizer")
    tokens.make_tokenizer(tmp_path / "tokenizer.json")
    tokens.make_sentencepiece(tmp_path / "tokenizer.model")
    one = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    other = SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    assert other.vocab_size() == one.get_vocab_size() == tokens.TOKENS
    encoded = one.encode(text).ids
    assert other.encode(text) == encoded
    assert other.decode(encoded) == one.decode(encoded)
    assert one.encode(one.decode(encoded)).ids == encoded


def test_tokenizer_of_every_run_is_the_same(part: Part, tmp_path: Path) -> None:
    for name in ("one", "other"):
        part("tokenizer").make_sentencepiece(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_words_are_said_one_after_another(part: Part) -> None:
    spoken = part("utterances").tokens_of_frames(np.array([0.3, 1, 1, 1, 2.4]), 20)
    assert (spoken[0], spoken[-1]) == (0, 4)
    assert (np.diff(spoken) >= 0).all()
