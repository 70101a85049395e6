"""Makes the voice state: from any audio file soundfile reads, a state file, a name or `hf://`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kvstudio.engine import pocket
from kvstudio.engine.demo import demo_voice, demo_voices
from kvstudio.engine.state import ModelState, offset_of
from kvstudio.engine.voice_trace import traced_voice
from kvstudio.recording.errors import KVStudioError

LONGEST_S = 30.0
SHORTEST_S = 0.08
LOCAL_SUFFIX = ".safetensors"


class VoiceError(KVStudioError):
    """A voice that cannot be used, with what to do."""


@dataclass
class Voice:
    """A voice state and what is known of it.

    Attributes:
        state: what `get_state_for_audio_prompt` returned.
        card: source, slots, seconds, note; for the window and the recording.
        trace: the ops of the voice prefill, if it ran here.
    """

    state: ModelState
    card: dict[str, Any]
    trace: Any = None


def make_voice(tts: pocket.TTS, source: str, demo: bool) -> Voice:
    """The state for `source`; a bare name is an embedded voice of the demo model if there is one.

    Raises:
        VoiceError: the file or state cannot be a voice for this model.
        Exception: what pocket-tts raises; `failures.explain` puts it in words.
    """
    path = (demo_voice(source) if demo else None) or _local(source, demo)
    if path is None:
        with traced_voice(tts) as trace:
            state = tts.get_state_for_audio_prompt(source)
        return _checked(tts, Voice(state, {"source": source}, trace))
    _require_file(path)
    if path.suffix.lower() == LOCAL_SUFFIX:
        return _checked(tts, Voice(_imported(tts, path), {"source": source}))
    samples, rate, note = read_prompt(path)
    if not getattr(tts, "has_voice_cloning", True):
        raise VoiceError(
            "these weights cannot clone a voice from an audio file; choose a predefined voice"
        )
    with traced_voice(tts) as trace:
        state = tts.get_state_for_audio_prompt(_at_model_rate(tts, samples, rate))
    seconds = round(len(samples) / rate, 3)
    return _checked(tts, Voice(state, {"source": source, "seconds": seconds, "note": note}, trace))


def read_prompt(path: Path) -> tuple[np.ndarray, int, str]:
    """Mono float32 samples `[n]`, their rate, and a note on what was changed.

    Raises:
        VoiceError: not audio, too short, or with samples that are not numbers.
    """
    import soundfile

    try:
        with soundfile.SoundFile(path) as file:
            rate = int(file.samplerate)
            frames = file.frames
            data = file.read(int(LONGEST_S * rate), dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError, OSError) as error:
        raise VoiceError(
            f"{path.name} is not audio that can be read ({error}); use WAV, FLAC, OGG or MP3"
        ) from error
    samples = data.mean(axis=1, dtype=np.float32)
    _require_speech(path, samples, rate)
    note = ""
    if frames > LONGEST_S * rate:
        note = f"{frames / rate:.0f} s long; only the first {LONGEST_S:.0f} s are used"
    return samples, rate, note


def _require_speech(path: Path, samples: np.ndarray, rate: int) -> None:
    bad = int((~np.isfinite(samples)).sum())
    if bad:
        raise VoiceError(
            f"{path.name} has {bad} samples that are NaN or infinite; they would fill the whole KV "
            "cache with NaN. Repair the file first"
        )
    if len(samples) < SHORTEST_S * rate:
        raise VoiceError(
            f"{path.name} is only {len(samples) / max(rate, 1):.3f} s long; a voice prompt needs "
            f"at least {SHORTEST_S} s (one frame), and speaks well from about 3 s"
        )


def _at_model_rate(tts: pocket.TTS, samples: np.ndarray, rate: int) -> torch.Tensor:
    """`[1, n]` at the model's sample rate, resampled by pocket-tts's own function."""
    from pocket_tts.data.audio_utils import convert_audio

    audio = torch.from_numpy(samples).unsqueeze(0)
    converted: torch.Tensor = convert_audio(audio, rate, int(tts.sample_rate), 1)
    return converted


def _local(source: str, demo: bool) -> Path | None:
    """The file that a source names, or None if pocket-tts is to find it.

    Raises:
        VoiceError: there is nothing of that name.
    """
    if source.startswith(("hf://", "http://", "https://")):
        return None
    if not source.strip():
        raise VoiceError("no voice chosen: pick a voice file or a predefined voice")
    path = Path(source).expanduser()
    if path.exists() or path.suffix or len(path.parts) > 1:
        return path
    if source in pocket.predefined_voices():
        return None
    names = demo_voices() if demo else pocket.predefined_voices()
    raise VoiceError(
        f"there is no voice file or predefined voice {source!r}: choose a file, or one of "
        f"{', '.join(names)}"
    )


def _imported(tts: pocket.TTS, path: Path) -> ModelState:
    from safetensors import SafetensorError

    try:
        state: ModelState = tts.get_state_for_audio_prompt(path)
    except (SafetensorError, ValueError) as error:
        raise VoiceError(
            f"{path.name} is not a voice state ({error}); make one with `pocket-tts export-voice`"
        ) from error
    return state


def _require_file(path: Path) -> None:
    if path.is_dir():
        raise VoiceError(f"{path} is a folder; choose an audio file")
    if not path.exists():
        raise VoiceError(f"there is no voice file {path}")
    if path.stat().st_size == 0:
        raise VoiceError(f"{path.name} is empty; choose another voice file")


def _checked(tts: pocket.TTS, voice: Voice) -> Voice:
    """The voice, if its state has the layers, heads and dims of this model."""
    expected = pocket.attention_modules(tts.flow_lm)
    missing = [name for name in expected if "cache" not in voice.state.get(name, {})]
    extra = [name for name in voice.state if name not in expected]
    if missing or extra:
        raise VoiceError(
            f"this voice state was made by another model: it has {len(voice.state)} layers, this "
            f"model has {len(expected)}. Make the voice again from its audio file"
        )
    for name, attention in expected.items():
        _check_layer(name, attention, voice.state[name])
    first = next(iter(expected))
    voice.card["slots"] = offset_of(voice.state[first])
    voice.card["layers"] = len(expected)
    return voice


def _check_layer(name: str, attention: Any, entry: Mapping[str, torch.Tensor]) -> None:
    shape = tuple(entry["cache"].shape)
    heads, dim = pocket.kv_heads(attention), pocket.head_dim(attention)
    if len(shape) != 5 or shape[:2] != (2, 1) or shape[3:] != (heads, dim):
        raise VoiceError(
            f"this voice state was made by another model: {name} holds {list(shape)}, this model "
            f"needs [2, 1, T, {heads}, {dim}]. Make the voice again from its audio file"
        )
    if entry["cache"].device.type == "meta":
        return
    offset = offset_of(entry)
    if offset is None:
        raise VoiceError(f"this voice state has no offset for {name}; it is incomplete")
    if not 0 <= offset <= shape[2]:
        raise VoiceError(
            f"this voice state is damaged: {name} says {offset} slots are in use of {shape[2]}"
        )
