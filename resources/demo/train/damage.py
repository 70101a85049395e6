"""What damage to the cache sounds like: runs broken by KVStudio's fault recipes, measured."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

from kvstudio.recording.reader import Recording
from train.distances import distances, pitch, spectra
from train.plan import FRAME, RATE
from train.progress import Progress
from train.recogniser import Recogniser
from train.speaking import with_whole_paths
from train.stages import Work
from train.texts import test_vocabulary

log = logging.getLogger("train")

Array = npt.NDArray[np.float32]

TEXT = "Hello world. I am a tiny voice."
HEALTHY = "healthy"
VOICES = ("low", "high")
WHOLE_VOICE = "slot=0,count={voice}"
SILENT = 1e-4  # rms
KVSTUDIO = (sys.executable, "-c", "from kvstudio.cli import main; main()")


@dataclass(frozen=True)
class Fault:
    """A recipe of `kvstudio faults`, and what it is in words.

    `{other}` is another voice's file, `{voice}` the number of slots of the voice, and `{word}` the
    slot where the second sentence begins.
    """

    words: str
    recipe: str


FAULTS = (
    Fault("unwritten slots are read", "off-by-one-read@6"),
    Fault("one slot of one layer is NaN", "poke-nan:layer=2,slot=5@6"),
    Fault("zeros in 8 unwritten slots are attended", "zeros-attended@6"),
    Fault("writes are dropped after 4 frames", "shrink-expansion@1"),
    Fault("writes are dropped after 14 frames", "shrink-expansion:room=14@1"),
    Fault("every write from frame 6 on is lost", "lost-write@6"),
    Fault("keys and values change places from frame 6 on", "swapped-kv@6"),
    Fault("voice slots are those of another voice", f"poke-voice:{WHOLE_VOICE},voice={{other}}@1"),
    Fault("their values only", f"poke-voice:{WHOLE_VOICE},kv=V,voice={{other}}@1"),
    Fault("voice slots are zeros", "voice-zeroed@0"),
    Fault("voice state of another model", "foreign-voice@0"),
    Fault("voice state was spoken with before", "voice-reused@0"),
    Fault("text slots 12 to 17 are zeros", "poke-zero:slot={word},count=6@2"),
    Fault("offset 5 slots too short", "offset-short@0"),
    Fault("offset 5 slots too long", "offset-long@0"),
    Fault("offset stands still", "stuck-offset@6"),
    Fault("offset of one layer a step behind", "skewed-offset@6"),
    Fault("positions are all 0", "rope-zero@6"),
    Fault("only the newest slots are read", "evict-oldest@6"),
    Fault("codec state made afresh, once", "codec-reset@6"),
    Fault("codec state made afresh in every frame", "codec-reset:frames=on@6"),
    Fault("codec state of another clip", "codec-stale@0"),
    Fault("codec step moved on wrongly", "codec-step@6"),
)


@dataclass(frozen=True)
class Damage:
    """A broken run, measured.

    Attributes:
        audible: seconds until the audio is NaN for good.
        level: against the healthy run, in dB; None if there is nothing to hear.
        words: what the recogniser hears.
        distance: spectral, to the healthy run.
        voice: the voice whose healthy run is nearest, or "none" if there is nothing to hear.
        pitch: in Hz.
        jump: the largest step from one frame's last sample to the next's first.
    """

    fault: str
    meant: str
    seconds: float
    audible: float
    level: float | None
    words: str
    distance: float
    voice: str
    pitch: float
    jump: float


class DamageTest:
    """Breaks runs of one model and compares them with healthy ones."""

    def __init__(self, model: Path, work: Work) -> None:
        self._model, self._folder = model, work.measured / "damage"
        self._recording = self._folder / "run.kvrec"
        self._faults = FAULTS[: work.plan.faults]
        self._folder.mkdir(parents=True, exist_ok=True)
        self._config = with_whole_paths(model, self._folder)
        self._recogniser = Recogniser(test_vocabulary(), self._folder)
        self._healthy = {voice: self._healthy_run(voice) for voice in VOICES}
        with Recording.open(self._recording) as healthy:
            self._voice_slots = healthy.chunks[0].current_end

    def results(self) -> Iterator[Damage]:
        progress = Progress("damage", len(self._faults) * len(VOICES))
        for voice, healthy in self._healthy.items():
            yield self._measured(HEALTHY, voice, healthy)
        for fault in self._faults:
            for voice in VOICES:
                if (audio := self._speak(voice, fault)) is not None:
                    yield self._measured(fault.words, voice, audio)
                progress.advance()

    def _healthy_run(self, voice: str) -> Array:
        audio = self._speak(voice, None)
        if audio is None:
            raise RuntimeError(f"{self._model} does not speak even when nothing is broken")
        return audio

    def _speak(self, voice: str, fault: Fault | None) -> Array | None:
        """The run's audio, NaN and all; None if the model refused."""
        wave = self._folder / "run.wav"
        wave.unlink(missing_ok=True)
        self._recording.unlink(missing_ok=True)
        files = {name: str((self._model / "voices" / f"{name}.wav").resolve()) for name in VOICES}
        command = [*KVSTUDIO, "record", "--config", str(self._config), "--voice", files[voice]]
        command += ["--text", TEXT, "--trace", "off", "--wav", str(wave)]
        if fault:
            other = files[next(name for name in VOICES if name != voice)]
            slots = {
                "voice": self._voice_slots,
                "word": self._voice_slots + (" " + TEXT).index(". I"),
            }
            command += ["--edit", fault.recipe.format(other=other, **slots)]
        done = subprocess.run(
            [*command, "-o", str(self._recording)],
            capture_output=True,
            text=True,
            check=False,
        )
        audio: Array | None = soundfile.read(wave, dtype="float32")[0] if wave.exists() else None
        if audio is None or not len(audio):
            log.warning("no audio with %s: %s", fault, done.stderr[-500:] + done.stdout[-500:])
            return None
        return audio

    def _measured(self, fault: str, voice: str, audio: Array) -> Damage:
        broken = np.flatnonzero(np.isnan(audio))
        audible = audio[: broken[0]] if len(broken) else audio
        silent = len(audible) < FRAME or audible.std() < SILENT
        to_voices = self._to_voices(audible)
        return Damage(
            fault=fault,
            meant=voice,
            seconds=len(audio) / RATE,
            audible=len(audible) / RATE,
            level=None
            if silent
            else float(20 * np.log10(audible.std() / self._healthy[voice].std())),
            words="" if silent else " ".join(self._recogniser.words_in(audible)),
            distance=to_voices[voice],
            voice="none" if silent else min(to_voices, key=to_voices.__getitem__),
            pitch=float("nan") if silent else pitch(audible),
            jump=float(np.abs(np.diff(audible)[FRAME - 1 :: FRAME]).max(initial=0)),
        )

    def _to_voices(self, audio: Array) -> dict[str, float]:
        healthy = [spectra(self._healthy[voice]) for voice in VOICES]
        found = distances(spectra(np.pad(audio, (0, max(0, FRAME - len(audio))))), healthy)
        return dict(zip(VOICES, map(float, found), strict=True))
