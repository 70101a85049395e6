"""One token per character, in a form that pocket-tts opens."""

from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers

SPACE = "\u2581"
SYMBOLS = ("<unk>", SPACE, *"abcdefghijklmnopqrstuvwxyz'.,!?;:-\"")
TOKENS = 40  # the rest is spare


def make_tokenizer(path: Path) -> None:
    """Write a tokenizer without merges, whose decoding gives back exactly what was encoded.

    A space stands before every word, the first included: pocket-tts drops the first token of
    ".!...?" when it looks for the ends of sentences.
    """
    symbols = [*SYMBOLS, *(f"<r{spare}>" for spare in range(TOKENS - len(SYMBOLS)))]
    vocabulary = {symbol: token for token, symbol in enumerate(symbols)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Lowercase(),
            normalizers.Strip(),
            normalizers.Prepend(SPACE),
            normalizers.Replace(" ", SPACE),
        ]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.save(str(path))
