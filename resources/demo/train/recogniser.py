"""An offline recogniser that knows the words of the test and expects each of them alike."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pocketsphinx
from scipy.signal import resample_poly

from train.frequent import DICTIONARY, ENGLISH
from train.plan import RATE

Array = npt.NDArray[np.float32]

ITS_RATE = 16_000
SILENCE = 4_800  # samples around what it hears
LEVEL = 0.6  # peak of what it hears


class Recogniser:
    def __init__(self, vocabulary: Sequence[str], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        language, dictionary = folder / "words.arpa", folder / "words.dict"
        language.write_text(_even_language(vocabulary), encoding="utf-8")
        dictionary.write_text(_pronunciations(set(vocabulary)), encoding="utf-8")
        self._decoder = pocketsphinx.Decoder(
            hmm=str(ENGLISH / "en-us"), lm=str(language), dict=str(dictionary), loglevel="FATAL"
        )

    def words_in(self, audio: Array) -> list[str]:
        heard = np.pad(resample_poly(audio, ITS_RATE // 8_000, RATE // 8_000), SILENCE)
        peak = np.abs(heard).max()
        heard = heard * (LEVEL / peak) if peak > 1e-3 else heard
        # It cannot hear words in perfect silence, nor before it.
        heard = heard + np.random.RandomState(0).randn(len(heard)) * 1e-4
        self._decoder.start_utt()
        self._decoder.process_raw((heard * 32_767).astype(np.int16).tobytes(), full_utt=True)
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return words_of(re.sub(r"\(\d+\)", "", hypothesis.hypstr)) if hypothesis else []


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def word_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Words to change, leave out or put in, to get from one to the other."""
    errors = list(range(len(heard) + 1))
    for row, word in enumerate(said, 1):
        above, errors[0] = errors[0], row
        for column, other in enumerate(heard, 1):
            change = above + (word != other)
            above = errors[column]
            errors[column] = min(change, errors[column] + 1, errors[column - 1] + 1)
    return errors[-1]


def _even_language(vocabulary: Sequence[str]) -> str:
    score = f"{math.log10(1 / (len(vocabulary) + 1)):.4f}"
    grams = [f"{score} {word}" for word in ("</s>", *vocabulary)]
    head = ["\\data\\", f"ngram 1={len(vocabulary) + 2}", "", "\\1-grams:", "-99 <s>"]
    return "\n".join([*head, *grams, "", "\\end\\", ""])


def _pronunciations(vocabulary: set[str]) -> str:
    lines = DICTIONARY.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.split()[0].partition("(")[0] in vocabulary)
