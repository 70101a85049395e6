"""Draws batches for the language model: sequences of `bos, voice prompt | text | BOS, latents`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from train.utterances import Utterance, Utterances

PROMPT_FRAMES = (8, 20)
PROMPT_SOURCES = (9, 24)  # frames an utterance must have to serve as a prompt
POOL = 512  # utterances sorted by length to fill batches of like lengths
JOINED_SHARE = 0.25  # of the short ones get a second one behind them
EOS_FRAMES = 2  # positions that should say EOS; the second hears the last frame repeated
ALIGNMENT_WIDTH = 1.7  # tokens
PADDING, PROMPT, TEXT, AUDIO = range(4)

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Example:
    """A voice prompt, [frames, latents], and what should be said in that voice."""

    prompt: Array
    said: Utterance

    @property
    def slots(self) -> int:
        return 1 + len(self.prompt) + len(self.said.tokens) + len(self.said.latents) + EOS_FRAMES


@dataclass(frozen=True)
class Batch:
    """Sequences padded at the end to S slots.

    Attributes:
        kind: PADDING, PROMPT, TEXT or AUDIO, [B, S]; slot 0 is a PROMPT without a latent.
        tokens: at TEXT, [B, S].
        latents: what goes in at PROMPT and AUDIO, [B, S, latents].
        bos: where the BOS latent goes in instead, [B, S].
        targets: the latent to come out, [B, S, latents]; valid where `speaking`, [B, S].
        eos: 1 where speech is over, [B, S]; valid at AUDIO.
        alignment: attention wanted from each slot to each slot, 0 to 1, [B, S, S].
    """

    kind: Tensor
    tokens: Tensor
    latents: Tensor
    bos: Tensor
    targets: Tensor
    speaking: Tensor
    eos: Tensor
    alignment: Tensor


class Examples:
    """Draws examples from utterances."""

    def __init__(self, utterances: Utterances, positions: int) -> None:
        self._all = utterances
        self._positions = positions
        shortest, longest = PROMPT_SOURCES
        frames = utterances.frames
        self._sources = np.flatnonzero((frames >= shortest) & (frames <= longest))

    def draw(self, chance: np.random.Generator, longest: int, joined: int) -> list[Example]:
        """Examples of like lengths that fill a batch.

        Args:
            chance: what decides.
            longest: frames of the longest utterance.
            joined: frames up to which an utterance may get another one behind it.
        """
        texts = np.flatnonzero(self._all.frames <= longest)
        pool = chance.choice(texts, min(POOL, len(texts)))
        groups = self._groups(sorted(pool, key=lambda t: self._all.slots[t] + chance.random() * 3))
        return [
            self._example(text, joined, chance) for text in groups[chance.integers(len(groups))]
        ]

    def fixed(self, count: int) -> list[Example]:
        """The same examples every time, nothing joined."""
        chance = np.random.default_rng(0)
        return [self._example(text, 0, chance) for text in range(min(count, len(self._all.frames)))]

    def _groups(self, texts: Sequence[int]) -> list[list[int]]:
        groups: list[list[int]] = [[]]
        for text in texts:
            slots = int(self._all.slots[text]) + PROMPT_FRAMES[1] + 1 + EOS_FRAMES
            if slots * (len(groups[-1]) + 1) > self._positions and groups[-1]:
                groups.append([])
            groups[-1].append(text)
        return groups

    def _example(self, text: int, joined: int, chance: np.random.Generator) -> Example:
        voice = self._all.by_voice[int(chance.integers(len(self._all.by_voice)))]
        said = voice[text]
        if len(said.latents) <= joined and chance.random() < JOINED_SHARE:
            other = voice[int(chance.integers(len(voice)))]
            said = said.then(other) if len(other.latents) <= joined else said
        source = voice[chance.choice(self._sources)]
        frames = int(chance.integers(PROMPT_FRAMES[0], PROMPT_FRAMES[1] + 1))
        return Example(source.latents[-frames:], said)


def collate(examples: Sequence[Example]) -> Batch:
    slots = max(example.slots for example in examples)
    shape = (len(examples), slots)
    width = examples[0].prompt.shape[1]
    kind, tokens = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    latents, targets = np.zeros((*shape, width), np.float32), np.zeros((*shape, width), np.float32)
    bos, speaking, eos = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, np.float32)
    alignment = np.zeros((*shape, slots), np.float32)
    for row, example in enumerate(examples):
        said = example.said
        text = 1 + len(example.prompt)
        audio = text + len(said.tokens)
        over = audio + len(said.latents)
        kind[row, :text], kind[row, text:audio] = PROMPT, TEXT
        kind[row, audio : over + EOS_FRAMES] = AUDIO
        latents[row, 1:text] = example.prompt
        tokens[row, text:audio] = said.tokens
        to_come = np.concatenate([said.latents, said.latents[-1:]])
        bos[row, audio] = True
        latents[row, audio + 1 : over + EOS_FRAMES] = to_come
        targets[row, audio : over + 1] = to_come
        speaking[row, audio : over + 1] = True
        eos[row, over : over + EOS_FRAMES] = 1
        alignment[row, audio:over, text:audio] = _alignment(said)
    arrays = (kind, tokens, latents, bos, targets, speaking, eos, alignment)
    return Batch(*map(torch.from_numpy, arrays))


def _alignment(said: Utterance) -> Array:
    """A bell around the token each frame is about, [frames, tokens]."""
    distance = said.spoken[:, None] - np.arange(len(said.tokens))
    return np.asarray(np.exp(-np.square(distance / ALIGNMENT_WIDTH) / 2), np.float32)
