"""What the language model learns from: texts as tokens, and their latents in every voice."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from train.arrays import write_arrays
from train.latents import LatentSpace
from train.plan import FRAME, VOICES
from train.samples import as_audio
from train.tokenizer import SPACE
from train.words import FIXED

if TYPE_CHECKING:
    from train.recordings import Recording

log = logging.getLogger("train")

Array = npt.NDArray[np.float32]

# How long a token is said, against a letter.
LENGTHS = {SPACE: 0.3, "'": 0.1, ".": 2.4, "?": 2.4, "!": 2.4, ",": 2.4}
LENGTH_OF_LAST_MARK = 0.2
FRAMES_BEFORE, FRAMES_AFTER = 0.75, 1.6  # silence around an utterance


@dataclass(frozen=True)
class Utterance:
    """One text in one voice.

    Attributes:
        latents: [frames, latents].
        spoken: index of the token that is probably said in each frame, [frames].
    """

    tokens: list[int]
    latents: Array
    spoken: Array

    def then(self, other: "Utterance") -> "Utterance":
        """Both, one after the other; every utterance begins and ends in silence."""
        return Utterance(
            self.tokens + other.tokens,
            np.concatenate([self.latents, other.latents]),
            np.concatenate([self.spoken, other.spoken + len(self.tokens)]),
        )


class Utterances:
    """Every text in every voice: `by_voice[v][t]` is text t in voice v."""

    def __init__(self, texts: Sequence[str], by_voice: Sequence[Sequence[Utterance]]) -> None:
        self.texts = texts
        self.by_voice = by_voice
        self.frames = np.array([len(said.latents) for said in by_voice[0]])
        self.slots = self.frames + [len(said.tokens) for said in by_voice[0]]

    def split(self, held_out: int) -> tuple["Utterances", "Utterances"]:
        """Those to learn from, and the last `held_out` that were not written by hand."""
        made = [index for index, text in enumerate(self.texts) if text not in FIXED]
        apart = set(made[-held_out:])
        learned = [index for index in range(len(self.texts)) if index not in apart]
        return self._part(learned), self._part(sorted(apart))

    def _part(self, indices: Sequence[int]) -> "Utterances":
        by_voice = [[voice[index] for index in indices] for voice in self.by_voice]
        return Utterances([self.texts[index] for index in indices], by_voice)


def keep_latents(recordings: "Iterable[Recording]", space: LatentSpace, path: Path) -> None:
    """Write the latents of all recordings into one file."""
    texts: list[str] = []
    frames: list[int] = []
    parts: dict[str, list[Array]] = {voice.name: [] for voice in VOICES}
    for recording in recordings:
        texts.append(recording.text)
        frames.append(recording.frames)
        for name, audio in recording.audio.items():
            parts[name].append(space.latents_of(as_audio(audio)))
    joined = {name: np.concatenate(part) for name, part in parts.items()}
    write_arrays(path, {"texts": texts, "frames": frames, **joined})
    log.info("latents of %d texts, %.0f min per voice", len(texts), sum(frames) * FRAME / 1.44e6)


def read_utterances(path: Path, tokenizer_path: Path) -> Utterances:
    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    with np.load(path) as kept:
        frames = kept["frames"]
        texts = [str(text) for text in kept["texts"]]
        latents = [np.split(kept[voice.name], np.cumsum(frames)[:-1]) for voice in VOICES]
    tokens = [tokenizer.encode(text).ids for text in texts]
    symbols = [tokenizer.id_to_token(token) for token in range(tokenizer.get_vocab_size())]
    lengths = np.array([LENGTHS.get(str(symbol), 1.0) for symbol in symbols])
    spoken = [tokens_of_frames(lengths[t], n) for t, n in zip(tokens, frames, strict=True)]
    return Utterances(texts, [list(map(Utterance, tokens, voice, spoken)) for voice in latents])


def tokens_of_frames(lengths: npt.NDArray[np.float64], frames: int) -> Array:
    """Which token each frame is about, if time passes evenly, [frames]."""
    lengths = np.append(lengths[:-1], LENGTH_OF_LAST_MARK)
    ends = np.cumsum(lengths)
    middles = (ends - lengths / 2) / ends[-1]
    speech = max(1.0, frames - FRAMES_BEFORE - FRAMES_AFTER)
    times = (np.arange(frames) + 0.5 - FRAMES_BEFORE) / speech
    return np.asarray(np.interp(times, middles, np.arange(len(lengths))), np.float32)
