"""The most frequent English words, without those one would not say to a child."""

import functools
import hashlib
import re
from pathlib import Path

import better_profanity
import pocketsphinx

ENGLISH = Path(pocketsphinx.__file__).parent / "model" / "en-us"
DICTIONARY = ENGLISH / "cmudict-en-us.dict"
BLOCKED = Path(__file__).with_name("blocked_words.txt")


@functools.cache
def pronounceable() -> frozenset[str]:
    """Every word of the recogniser's dictionary."""
    lines = DICTIONARY.read_text(encoding="utf-8").splitlines()
    return frozenset(line.split()[0].partition("(")[0] for line in lines if line)


@functools.cache
def most_frequent(count: int) -> tuple[str, ...]:
    """The `count` most frequent words of two to nine letters, the most frequent one first.

    Frequencies are those of the recogniser's language model, which was made from film subtitles;
    hence the two filters. Two letters are mostly abbreviations, except among the very first.
    """
    words = [word for word in sorted(pronounceable()) if re.fullmatch("[a-z]{2,9}", word)]
    log = pocketsphinx.LogMath()
    language = pocketsphinx.NGramModel(None, log, str(ENGLISH / "en-us.lm.bin"))
    ranked = sorted(words, key=lambda word: (-language.prob([word]), word))
    clean: list[str] = []
    for word in ranked:
        if len(clean) == count:
            break
        if is_wholesome(word) and (len(word) > 2 or len(clean) < 300):
            clean.append(word)
    return tuple(clean)


def is_wholesome(word: str) -> bool:
    return fingerprint(word) not in _blocked() and not _profanity().contains_profanity(word)


def fingerprint(word: str) -> str:
    """What `blocked_words.txt` keeps of a word, so that the word itself need not stand there."""
    return hashlib.sha256(word.encode()).hexdigest()[:12]


@functools.cache
def _blocked() -> frozenset[str]:
    return frozenset(BLOCKED.read_text(encoding="utf-8").split())


@functools.cache
def _profanity() -> better_profanity.Profanity:
    return better_profanity.Profanity()
