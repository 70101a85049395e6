"""Measures a model on sentences it has never seen, against the speech it should have learned."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from train.distances import distances, pitch, spectra
from train.plan import DELAY, FRAME
from train.progress import Progress
from train.recogniser import Recogniser, word_errors, words_of
from train.speaking import Speaker
from train.stages import Work
from train.texts import test_vocabulary
from train.truth import Truth
from train.workers import workers

SAME_PITCH = 0.03  # relative difference to the prompt's
REPEATED = 10  # sentences said twice
PACED = 20  # sentences of which the pace is taken
LONGEST = 10  # sentences of the longest text that is said chunk by chunk into one cache


@dataclass(frozen=True)
class Verdict:
    """One sentence in one voice, measured; the figures of a voice are means of these."""

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
    ended_in_place: float
    distance_in_place: float


def measure(model: Path, work: Work) -> dict[str, Figures]:
    """Everything about a model, by voice."""
    work.testing.make(work.plan.workers, work.log)
    work.variants.make(work.plan.workers, work.log)
    voices = sorted(path.stem for path in (model / "voices").glob("*.wav"))
    paces = {voice: pace_of(voice, model, work) for voice in voices}
    with workers(work.plan.workers, work.log) as pool:
        jobs = {
            voice: pool.submit(measure_voice, voice, model, work, pace)
            for voice, pace in paces.items()
        }
        return {voice: job.result() for voice, job in jobs.items()}


def pace_of(voice: str, model: Path, work: Work) -> float:
    """Seconds of one core per second of speech, while no other process of ours is at work."""
    speaker = Speaker(model, work.measured / f"{model.name}_{voice}")
    return float(np.mean([speaker.say(text, voice).pace for text in work.tested[:PACED]]))


def measure_voice(voice: str, model: Path, work: Work, pace: float) -> Figures:
    scratch = work.measured / f"{model.name}_{voice}"
    recogniser = Recogniser(test_vocabulary(), scratch)
    test = _Test(Truth(work, voice, recogniser), recogniser, Speaker(model, scratch), voice)
    progress = Progress(f"measuring {voice}", len(test.truth.sentences))
    verdicts = []
    for index in range(len(test.truth.sentences)):
        verdicts.append(test.verdict(index))
        progress.advance()
    ended, distance = test.in_place()
    return Figures(
        pitch_of_prompt=test.prompt_pitch,
        repeats=test.repeats(),
        pace=pace,
        ended_in_place=ended,
        distance_in_place=distance,
        **_means(verdicts),
    )


class _Test:
    """A speaker and the truth in one voice."""

    def __init__(self, truth: Truth, recogniser: Recogniser, speaker: Speaker, voice: str) -> None:
        self.truth = truth
        self.prompt_pitch = pitch(speaker.prompts[voice])
        self._recogniser, self._speaker, self._voice = recogniser, speaker, voice

    def verdict(self, index: int) -> Verdict:
        truth, sentence = self.truth, self.truth.sentences[index]
        spoken = self._speaker.say(sentence, self._voice)
        # 10 ms are half a step between two spectra: no alignment in time could make up for them.
        heard = spectra(spoken.audio[DELAY:])
        to_all = distances(heard, truth.spectra)
        voices, said = zip(*truth.in_every_voice(index).items(), strict=True)
        likeliest = voices[int(distances(heard, said).argmin())]
        own_pitch = pitch(spoken.audio)
        same_pitch = abs(own_pitch / self.prompt_pitch - 1) < SAME_PITCH
        words = words_of(sentence)
        return Verdict(
            ended=spoken.ended,
            nearest_of_all=bool(to_all.argmin() == index),
            nearest_of_variants=bool(to_all[index] < distances(heard, truth.variants(index)).min()),
            right_voice=likeliest == self._voice and same_pitch,
            pitch=own_pitch,
            distance=float(to_all[index]),
            distance_to_others=float(np.delete(to_all, index).mean()),
            words=len(words),
            errors=word_errors(words, self._recogniser.words_in(spoken.audio)),
            errors_in_truth=truth.errors[index],
            length=len(spoken.audio) / FRAME / truth.frames(index),
        )

    def repeats(self) -> float:
        """Share of some sentences that a seed says twice in the same way."""
        some = self.truth.sentences[:REPEATED]
        said = [self._speaker.repeats_itself(sentence, self._voice) for sentence in some]
        return float(np.mean(said))

    def in_place(self) -> tuple[float, float]:
        """Share of texts of more and more sentences that end, and the distance of those that do."""
        truth, found = self.truth, []
        sizes = range(2, min(LONGEST, len(truth.sentences)) + 1)
        for size in sizes:
            audio = self._speaker.say_in_place(" ".join(truth.sentences[:size]), self._voice)
            if audio is not None:
                wanted = np.concatenate(truth.spectra[:size])
                found.append(float(distances(spectra(audio[DELAY:]), [wanted])[0]))
        return len(found) / len(sizes), float(np.mean(found)) if found else float("nan")


def _means(verdicts: Sequence[Verdict]) -> dict[str, float]:
    mean = {
        field.name: float(np.mean([getattr(verdict, field.name) for verdict in verdicts]))
        for field in fields(Verdict)
    }
    words, errors = mean.pop("words"), mean.pop("errors")
    errors_in_truth = mean.pop("errors_in_truth")
    mean["words_right"] = 1 - errors / words
    mean["words_right_in_truth"] = 1 - errors_in_truth / words
    return mean
