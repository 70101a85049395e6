"""Measures a model on sentences it has never seen, against the speech it should have learned."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from train.distances import distances, pitch, spectra
from train.plan import FRAME
from train.progress import Progress
from train.recogniser import Recogniser, word_errors, words_of
from train.recordings import Recording
from train.samples import as_audio
from train.speaking import Speaker, Spoken
from train.stages import Work
from train.texts import one_word_variants, test_vocabulary

log = logging.getLogger("train")

Array = npt.NDArray[np.float32]

SAME_PITCH = 0.03  # relative difference to the prompt's
REPEATED = 10  # sentences said twice


@dataclass(frozen=True)
class Verdict:
    """One sentence in one voice, measured; the shares of a set are means of these."""

    ended: bool
    nearest_of_all: bool
    nearest_of_variants: bool
    right_voice: bool
    pitch: float
    distance: float
    distance_to_others: float
    words: int
    errors: int
    errors_in_truth: int
    length: float
    pace: float


@dataclass(frozen=True)
class Figures:
    """What a voice did on average; shares from 0 to 1."""

    ended: float
    nearest_of_all: float
    nearest_of_variants: float
    words_right: float
    words_right_in_truth: float
    right_voice: float
    pitch: float
    pitch_of_prompt: float
    distance: float
    distance_to_others: float
    length: float
    pace: float
    repeats: float


class Truth:
    """The recordings that a model is compared with, by voice."""

    def __init__(self, work: Work, recogniser: Recogniser) -> None:
        work.testing.make(work.plan.workers)
        work.variants.make(work.plan.workers)
        self._plan = work.plan
        self._recordings = list(work.testing)
        self._variants = {recording.text: recording for recording in work.variants}
        self._recogniser = recogniser
        self.sentences = [recording.text for recording in self._recordings]

    def spectra(self, voice: str) -> list[Array]:
        return [_spectra(recording, voice) for recording in self._recordings]

    def spectra_of_variants(self, sentence: str, voice: str) -> list[Array]:
        variants = one_word_variants(sentence, self._plan.variants, self._plan.vocabulary)
        return [_spectra(self._variants[v], voice) for v in variants if v in self._variants]

    def spectra_in_voices(self, index: int) -> dict[str, Array]:
        recording = self._recordings[index]
        return {voice: _spectra(recording, voice) for voice in recording.audio}

    def frames(self, index: int) -> int:
        return self._recordings[index].frames

    def errors(self, index: int, voice: str) -> int:
        """Words of the true recording that the recogniser gets wrong."""
        recording = self._recordings[index]
        heard = self._recogniser.words_in(as_audio(recording.audio[voice]))
        return word_errors(words_of(recording.text), heard)


def measure(model: Path, work: Work) -> dict[str, Figures]:
    """Everything about a model, by voice."""
    scratch = work.folder / "measured"
    recogniser = Recogniser(test_vocabulary(), scratch)
    truth = Truth(work, recogniser)
    speaker = Speaker(model, scratch)
    return {voice: _measure_voice(voice, speaker, truth, recogniser) for voice in speaker.prompts}


def _measure_voice(voice: str, speaker: Speaker, truth: Truth, recogniser: Recogniser) -> Figures:
    sentences = truth.sentences
    every = truth.spectra(voice)
    prompt_pitch = pitch(speaker.prompts[voice])
    progress = Progress(f"measuring {voice}", len(sentences))
    verdicts = []
    for index, sentence in enumerate(sentences):
        spoken = speaker.say(sentence, voice)
        errors = word_errors(words_of(sentence), recogniser.words_in(spoken.audio))
        verdicts.append(_verdict(spoken, index, voice, truth, every, prompt_pitch, errors))
        progress.advance()
    repeats = [speaker.repeats_itself(sentence, voice) for sentence in sentences[:REPEATED]]
    return _figures(verdicts, prompt_pitch, float(np.mean(repeats)))


def _verdict(
    spoken: Spoken,
    index: int,
    voice: str,
    truth: Truth,
    every: Sequence[Array],
    prompt_pitch: float,
    errors: int,
) -> Verdict:
    sentence = truth.sentences[index]
    heard = spectra(spoken.audio)
    to_all = distances(heard, every)
    to_variants = distances(heard, truth.spectra_of_variants(sentence, voice))
    in_voices = truth.spectra_in_voices(index)
    likeliest = list(in_voices)[int(distances(heard, list(in_voices.values())).argmin())]
    own_pitch = pitch(spoken.audio)
    return Verdict(
        ended=spoken.ended,
        nearest_of_all=bool(to_all.argmin() == index),
        nearest_of_variants=bool(to_all[index] < to_variants.min()),
        right_voice=likeliest == voice and abs(own_pitch / prompt_pitch - 1) < SAME_PITCH,
        pitch=own_pitch,
        distance=float(to_all[index]),
        distance_to_others=float(np.delete(to_all, index).mean()),
        words=len(words_of(sentence)),
        errors=errors,
        errors_in_truth=truth.errors(index, voice),
        length=len(spoken.audio) / FRAME / truth.frames(index),
        pace=spoken.pace,
    )


def _figures(verdicts: Sequence[Verdict], prompt_pitch: float, repeats: float) -> Figures:
    mean = {
        field.name: float(np.nanmean([getattr(verdict, field.name) for verdict in verdicts]))
        for field in fields(Verdict)
    }
    words, errors = mean.pop("words"), mean.pop("errors")
    errors_in_truth = mean.pop("errors_in_truth")
    return Figures(
        words_right=1 - errors / words,
        words_right_in_truth=1 - errors_in_truth / words,
        pitch_of_prompt=prompt_pitch,
        repeats=repeats,
        **mean,
    )


def _spectra(recording: Recording, voice: str) -> Array:
    return spectra(as_audio(recording.audio[voice]))
