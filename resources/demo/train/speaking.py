"""A finished model under test, run by pocket-tts as anybody would run it."""

import copy
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import yaml
from pocket_tts import TTSModel
from scipy.io import wavfile

from train.plan import FRAME, RATE
from train.samples import as_audio

Array = npt.NDArray[np.float32]

RAISES_WITHOUT_EOS = "KPOCKET_TTS_ERROR_WITHOUT_EOS"  # a switch of pocket-tts
TEMPERATURE = 0.7  # at which audio must repeat itself; the demo's own is 0


@dataclass(frozen=True)
class Spoken:
    """What came out.

    Attributes:
        seconds: of processor time, all threads together.
        ended: by EOS, and not by the limit.
    """

    audio: Array
    seconds: float
    ended: bool

    @property
    def pace(self) -> float:
        """Seconds of one core per second of audio."""
        return self.seconds / (len(self.audio) / RATE)


class Speaker:
    """A model folder, opened."""

    def __init__(self, model: Path, scratch: Path) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self._tts = TTSModel.load_model(config=with_whole_paths(model, scratch))
        # Otherwise the last bits of the audio depend on how many frames happened to be waiting.
        self._tts.max_decoder_frames_per_call = 1
        files = sorted((model / "voices").glob("*.wav"))
        self.prompts = {file.stem: as_audio(wavfile.read(file)[1]) for file in files}
        self._voices = {file.stem: self._tts.get_state_for_audio_prompt(file) for file in files}

    def say(self, text: str, voice: str) -> Spoken:
        started = time.process_time()
        audio = self._tts.generate_audio(self._voices[voice], text).numpy()
        seconds = time.process_time() - started
        tokens = self._tts.flow_lm.conditioner.prepare(text).shape[1]
        limit = self._tts._estimate_max_gen_len(tokens)
        return Spoken(audio, seconds, len(audio) // FRAME < limit)

    def say_in_place(self, text: str, voice: str) -> Array | None:
        """All chunks of a text into one cache; None if one of them did not end by EOS."""
        state = copy.deepcopy(self._voices[voice])
        os.environ[RAISES_WITHOUT_EOS] = "1"
        try:
            audio: Array = self._tts.generate_audio(state, text, copy_state=False).numpy()
        except RuntimeError as error:
            if "EOS" not in str(error):
                raise
            return None
        finally:
            del os.environ[RAISES_WITHOUT_EOS]
        return audio

    def repeats_itself(self, text: str, voice: str) -> bool:
        """Whether a seed gives the same audio twice, with noise in the sampling."""
        own, self._tts.temp = self._tts.temp, TEMPERATURE
        first, second = (self._seeded(text, voice) for _ in range(2))
        self._tts.temp = own
        return np.array_equal(first, second)

    def _seeded(self, text: str, voice: str) -> Array:
        torch.manual_seed(1)
        audio: Array = self._tts.generate_audio(self._voices[voice], text).numpy()
        return audio


def with_whole_paths(model: Path, scratch: Path) -> Path:
    """The model's config, whose paths pocket-tts takes from the current folder."""
    config = yaml.safe_load((model / "config.yaml").read_text(encoding="utf-8"))
    config["weights_path"] = str((model / config["weights_path"]).resolve())
    table = config["flow_lm"]["lookup_table"]
    table["tokenizer_path"] = str((model / table["tokenizer_path"]).resolve())
    path = scratch / "config.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path
