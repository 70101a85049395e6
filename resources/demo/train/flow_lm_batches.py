"""Draws batches for the language model: sequences of `bos, voice prompt | text | BOS, latents`.

A sequence may go on with further texts and their latents, as it does when pocket-tts says the
chunks of a long text into one cache (`copy_state=False`).
"""

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
JOINED_SHARE = 0.25  # of the batches say two utterances as one chunk
CHUNKED_SHARE = 0.35  # of the batches say several chunks
CHUNKS = (2, 5)
# Positions that should say EOS. By `model_recommended_frames_after_eos` of the config pocket-tts
# takes one step more, which hears the last frame repeated.
EOS_FRAMES = 2
ALIGNMENT_WIDTH = 1.7  # tokens
PADDING, PROMPT, TEXT, AUDIO = range(4)

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Example:
    """A voice prompt, [frames, latents], and the chunks that should be said in that voice."""

    prompt: Array
    chunks: Sequence[Utterance]

    @property
    def slots(self) -> int:
        said = sum(len(chunk.tokens) + len(chunk.latents) + EOS_FRAMES for chunk in self.chunks)
        return 1 + len(self.prompt) + said


@dataclass(frozen=True)
class Lengths:
    """What a batch may hold.

    Attributes:
        longest: frames of an utterance.
        joined: frames of an utterance that may be joined with another one.
        chunked: whether a sequence may have several chunks.
    """

    longest: int
    joined: int
    chunked: bool


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

    def draw(self, chance: np.random.Generator, lengths: Lengths) -> list[Example]:
        """Examples of like lengths that fill a batch."""
        kind = chance.random()
        if kind < JOINED_SHARE:
            rows = self._rows(chance, lengths.joined, 2)
            return [self._example(row, chance, joined=True) for row in rows]
        several = lengths.chunked and kind < JOINED_SHARE + CHUNKED_SHARE
        chunks = int(chance.integers(CHUNKS[0], CHUNKS[1] + 1)) if several else 1
        return [self._example(row, chance) for row in self._rows(chance, lengths.longest, chunks)]

    def fixed(self, count: int) -> list[Example]:
        """The same examples every time, a chunk each."""
        chance = np.random.default_rng(0)
        texts = range(min(count, len(self._all.frames)))
        return [self._example([text], chance) for text in texts]

    def _rows(self, chance: np.random.Generator, longest: int, columns: int) -> list[Sequence[int]]:
        """Rows of `columns` texts, about as long as each other, that fill a batch."""
        texts = np.flatnonzero(self._all.frames <= longest)
        rows = chance.choice(texts, (POOL // columns, columns))
        around = PROMPT_FRAMES[1] + 1 + EOS_FRAMES * columns
        slots = self._all.slots[rows].sum(1) + around
        groups: list[list[Sequence[int]]] = [[]]
        for row in np.argsort(slots + chance.random(len(slots)) * 3):
            if slots[row] * (len(groups[-1]) + 1) > self._positions and groups[-1]:
                groups.append([])
            groups[-1].append(rows[row].tolist())
        return groups[chance.integers(len(groups))]

    def _example(
        self, texts: Sequence[int], chance: np.random.Generator, joined: bool = False
    ) -> Example:
        voice = self._all.by_voice[int(chance.integers(len(self._all.by_voice)))]
        chunks = [voice[text] for text in texts]
        source = voice[chance.choice(self._sources)]
        frames = int(chance.integers(PROMPT_FRAMES[0], PROMPT_FRAMES[1] + 1))
        said = [chunks[0].then(chunks[1])] if joined else chunks
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
        text = 1 + len(example.prompt)
        kind[row, :text] = PROMPT
        latents[row, 1:text] = example.prompt
        for said in example.chunks:
            audio = text + len(said.tokens)
            over = audio + len(said.latents)
            end = over + EOS_FRAMES
            kind[row, text:audio], kind[row, audio:end] = TEXT, AUDIO
            tokens[row, text:audio] = said.tokens
            to_come = np.concatenate([said.latents, said.latents[-1:]])
            bos[row, audio] = True
            latents[row, audio + 1 : end] = to_come
            targets[row, audio : over + 1] = to_come
            speaking[row, audio : over + 1] = True
            eos[row, over:end] = 1
            alignment[row, audio:over, text:audio] = _alignment(said)
            text = end
    arrays = (kind, tokens, latents, bos, targets, speaking, eos, alignment)
    return Batch(*map(torch.from_numpy, arrays))


def _alignment(said: Utterance) -> Array:
    """A bell around the token each frame is about, [frames, tokens]."""
    distance = said.spoken[:, None] - np.arange(len(said.tokens))
    return np.asarray(np.exp(-np.square(distance / ALIGNMENT_WIDTH) / 2), np.float32)
