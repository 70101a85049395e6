"""One token per character, in the two forms that pocket-tts opens."""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, normalizers

SPACE = "\u2581"
UNKNOWN = "\u2047"  # in no token, as sentencepiece has it
SYMBOLS = ("<unk>", SPACE, *"abcdefghijklmnopqrstuvwxyz'.,!?;:-\"")
TOKENS = 40  # the rest is spare
ALL_SYMBOLS = (*SYMBOLS, *(f"<r{spare}>" for spare in range(TOKENS - len(SYMBOLS))))


def make_tokenizer(path: Path) -> None:
    """Write a tokenizer without merges; what it decodes is encoded to the same tokens again.

    pocket-tts relies on that when it cuts a text into chunks. A space stands before every word, the
    first included: pocket-tts drops the first token of ".!...?" when it looks for where sentences
    end.
    """
    vocabulary = {symbol: token for token, symbol in enumerate(ALL_SYMBOLS)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Lowercase(),
            normalizers.Strip(),
            normalizers.Prepend(SPACE),
            normalizers.Replace(Regex(" +"), SPACE),
        ]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace(SPACE, " "),
            decoders.Replace("<unk>", UNKNOWN),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.save(str(path))


def make_sentencepiece(path: Path) -> None:
    """Write the same tokens as sentencepiece, the only kind that pocket-tts 2 opens."""
    letters = [symbol for symbol in SYMBOLS if symbol.isalpha() and symbol.isascii()]
    made = io.BytesIO()
    with tempfile.TemporaryDirectory() as scratch, _inside(scratch):
        lower = Path("lower.tsv")  # its path becomes part of the model
        lower.write_text("".join(f"{ord(a.upper()):X}\t{ord(a):X}\n" for a in letters), "utf-8")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([UNKNOWN]),  # it wants something that is in no token
            model_writer=made,
            model_type="char",
            vocab_size=TOKENS,
            user_defined_symbols=list(ALL_SYMBOLS[1:]),  # they get their tokens in this order
            normalization_rule_tsv=str(lower),
            unk_id=0,
            unk_surface=UNKNOWN,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    path.write_bytes(made.getvalue())


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
