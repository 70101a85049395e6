"""Recordings of texts in every voice, made once in shards and kept on disk.

A shard is one `.npz` with the texts, the lengths of their recordings in frames, and one long
recording per voice.
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from train.arrays import write_arrays
from train.plan import FRAME, VOICES
from train.progress import Progress
from train.resynthesis import render
from train.samples import Samples, as_samples
from train.speech import SilentText, speech_of
from train.texts import as_written
from train.workers import workers

log = logging.getLogger(__name__)

SHARD = 50  # texts


@dataclass(frozen=True)
class Recording:
    """One text in every voice, all of the same length and timing."""

    text: str
    audio: dict[str, Samples]  # voice name -> [frames * FRAME]

    @property
    def frames(self) -> int:
        return len(next(iter(self.audio.values()))) // FRAME


def record(text: str) -> Recording:
    """Speak `text` in every voice."""
    speech = speech_of(as_written(text))
    audio = {voice.name: as_samples(render(speech, voice)) for voice in VOICES}
    return Recording(text, audio)


class Recordings:
    """The recordings of some texts in one folder."""

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        self._folder = folder
        texts = list(dict.fromkeys(texts))
        self._shards = [tuple(texts[i : i + SHARD]) for i in range(0, len(texts), SHARD)]

    def make(self, processes: int, log_file: Path) -> None:
        """Record what is not there yet."""
        self._folder.mkdir(parents=True, exist_ok=True)
        missing = [shard for shard in self._shards if not self._path(shard).exists()]
        progress = Progress(f"recordings in {self._folder.name}", len(missing))
        with workers(processes, log_file) as pool:
            paths = [self._path(shard) for shard in missing]
            for _ in pool.map(_record_shard, missing, paths):
                progress.advance()

    def __iter__(self) -> Iterator[Recording]:
        for shard in self._shards:
            yield from _read_shard(self._path(shard))

    def _path(self, shard: tuple[str, ...]) -> Path:
        name = hashlib.sha256("\n".join(shard).encode()).hexdigest()[:16]
        return self._folder / f"{name}.npz"


def _record_shard(texts: tuple[str, ...], path: Path) -> None:
    recordings = list(_recordable(texts))
    parts = {
        voice.name: np.concatenate([recording.audio[voice.name] for recording in recordings])
        for voice in VOICES
    }
    said = [recording.text for recording in recordings]
    frames = [recording.frames for recording in recordings]
    write_arrays(path, {"texts": said, "frames": frames, **parts})


def _recordable(texts: tuple[str, ...]) -> Iterator[Recording]:
    for text in texts:
        try:
            yield record(text)
        except SilentText:
            log.warning("espeak-ng says nothing for %r", text)


def _read_shard(path: Path) -> Iterator[Recording]:
    with np.load(path) as shard:
        parts = {voice.name: shard[voice.name] for voice in VOICES}
        texts, ends = shard["texts"], np.cumsum(shard["frames"]) * FRAME
    start = 0
    for text, end in zip(texts, ends, strict=True):
        yield Recording(str(text), {name: part[start:end] for name, part in parts.items()})
        start = int(end)
