"""The stages of a run, in order; each finds what the earlier ones left in the working folder."""

import logging
from collections.abc import Iterator
from concurrent.futures import as_completed
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from train.codec_training import CROP, HELD_OUT, DecoderTask, EncoderTask, Sounds
from train.flow_lm_batches import Examples
from train.flow_lm_training import FlowLMTask
from train.latents import LatentSpace
from train.loop import train
from train.models import latent_size, new_codec, new_flow_lm
from train.plan import Plan
from train.recordings import Recordings
from train.samples import Samples, as_audio
from train.texts import one_word_variants, test_sentences, training_texts
from train.tokenizer import make_tokenizer
from train.utterances import keep_latents, read_utterances
from train.workers import workers

log = logging.getLogger("train")

RECORDINGS_FOR_SPACE = 400  # texts, in all voices


@dataclass(frozen=True)
class Work:
    """A working folder and the plan it belongs to."""

    folder: Path
    plan: Plan

    @property
    def learning(self) -> Recordings:
        return Recordings(self.folder / "learning", training_texts(self.plan))

    @property
    def testing(self) -> Recordings:
        return Recordings(self.folder / "testing", self.tested)

    @property
    def variants(self) -> Recordings:
        plan = self.plan
        return Recordings(
            self.folder / "variants",
            [v for t in self.tested for v in one_word_variants(t, plan.variants, plan.vocabulary)],
        )

    @property
    def tested(self) -> list[str]:
        return test_sentences(self.plan.test_sentences)

    @property
    def space(self) -> LatentSpace:
        return LatentSpace.load(self.folder / "space.npz")

    @property
    def latents(self) -> Path:
        return self.folder / "latents.npz"

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer.json"

    @property
    def log(self) -> Path:
        return self.folder / "train.log"

    @property
    def measured(self) -> Path:
        """What the measurements keep."""
        return self.folder / "measured"

    def weights(self, part: str) -> dict[str, torch.Tensor]:
        """The trained weights of `encoder`, `decoder` or `flow_lm`."""
        weights: dict[str, torch.Tensor] = torch.load(self.folder / f"{part}.pt")["average"]
        return weights


def record_texts(work: Work) -> None:
    """Speech for everything to learn from."""
    work.learning.make(work.plan.workers, work.log)


def make_latents(work: Work) -> None:
    """The latent space, and every recording in it."""
    if work.latents.exists():
        return
    make_tokenizer(work.tokenizer)
    some = islice(work.learning, RECORDINGS_FOR_SPACE)
    space = LatentSpace.fit(
        (as_audio(audio) for recording in some for audio in recording.audio.values()), latent_size()
    )
    space.save(work.folder / "space.npz")
    keep_latents(work.learning, space, work.latents)


def train_models(work: Work) -> None:
    """Codec and language model side by side, each in a process with one thread."""
    with workers(2, work.log) as pool:
        jobs = [pool.submit(train_flow_lm, work), pool.submit(train_codec, work)]
        for done in as_completed(jobs):
            if done.exception():  # said now: the other one may have an hour to go
                log.error("training failed", exc_info=done.exception())
            done.result()


def train_codec(work: Work) -> None:
    plan = work.plan
    recordings = list(_long_enough(work))
    learning = Sounds(work.space, recordings[HELD_OUT:])
    held_out = Sounds(work.space, recordings[:HELD_OUT])
    mimi = new_codec(plan.seed)
    encoder = EncoderTask(mimi, learning, held_out, plan.seed)
    train(encoder, plan.encoder_steps, work.folder)
    decoder = DecoderTask(mimi, learning, held_out, plan.seed)
    train(decoder, plan.decoder_steps, work.folder)


def _long_enough(work: Work) -> Iterator[Samples]:
    for recording in islice(work.learning, work.plan.codec_texts):
        if recording.frames >= CROP:
            yield from recording.audio.values()


def train_flow_lm(work: Work) -> None:
    plan = work.plan
    learning, held_out = read_utterances(work.latents, work.tokenizer).split(plan.validation_texts)
    task = FlowLMTask(
        new_flow_lm(work.tokenizer, plan.seed),
        Examples(learning, plan.flow_lm_positions),
        Examples(held_out, plan.flow_lm_positions),
        work.space,
        plan.seed,
    )
    train(task, plan.flow_lm_steps, work.folder)
