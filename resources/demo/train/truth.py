"""What a model should have said: the recordings of the test, in one voice."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from train.distances import spectra
from train.progress import Progress
from train.recogniser import Recogniser, word_errors, words_of
from train.recordings import Recording
from train.samples import as_audio
from train.stages import Work
from train.texts import one_word_variants

Array = npt.NDArray[np.float32]


class Truth:
    """The test sentences, by index.

    Attributes:
        sentences: their texts.
        spectra: their recordings in this voice.
        errors: words of each recording that the recogniser gets wrong.
    """

    def __init__(self, work: Work, voice: str, recogniser: Recogniser) -> None:
        self._plan = work.plan
        self._voice = voice
        self._recordings = list(work.testing)
        self._variants = {recording.text: recording for recording in work.variants}
        self.sentences = [recording.text for recording in self._recordings]
        self.spectra = [_spectra(recording, voice) for recording in self._recordings]
        self.errors = self._errors(recogniser, work.measured / f"errors_{voice}.json")

    def frames(self, index: int) -> int:
        return self._recordings[index].frames

    def variants(self, index: int) -> list[Array]:
        """Spectra of sentences that differ in one word."""
        plan = self._plan
        texts = one_word_variants(self.sentences[index], plan.variants, plan.vocabulary)
        said = [self._variants[text] for text in texts if text in self._variants]
        return [_spectra(recording, self._voice) for recording in said]

    def in_every_voice(self, index: int) -> dict[str, Array]:
        """Spectra of the same sentence."""
        recording = self._recordings[index]
        return {voice: _spectra(recording, voice) for voice in recording.audio}

    def _errors(self, recogniser: Recogniser, kept: Path) -> list[int]:
        if kept.exists():
            known: list[int] = json.loads(kept.read_text(encoding="utf-8"))
            return known
        progress = Progress(f"recognising the recordings of {self._voice}", len(self.sentences))
        errors = []
        for recording in self._recordings:
            heard = recogniser.words_in(as_audio(recording.audio[self._voice]))
            errors.append(word_errors(words_of(recording.text), heard))
            progress.advance()
        unfinished = kept.with_suffix(".part")
        unfinished.write_text(json.dumps(errors), encoding="utf-8")
        unfinished.replace(kept)
        return errors


def _spectra(recording: Recording, voice: str) -> Array:
    return spectra(as_audio(recording.audio[voice]))
