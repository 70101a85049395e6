"""Files a user might point at: difficult voices, wrong states, broken configs, hostile pickles.

Every function writes one file into a folder and returns its path. `AUDIO` and `BROKEN_AUDIO` name
the voices, so that tests can be parametrised with them.
"""

import io
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import yaml
from safetensors.numpy import load_file, save_file

State = dict[str, np.ndarray[Any, Any]]


def _speech(seconds: float, rate: int, channels: int = 1) -> np.ndarray[Any, Any]:
    """Buzzes with pauses between them, float32 [T, channels] within +-0.5."""
    time = np.arange(int(seconds * rate)) / rate
    buzz = np.sin(2 * np.pi * 120 * time) + 0.5 * np.sin(2 * np.pi * 720 * time)
    spoken = (time % 0.6 < 0.4) & (time < max(0.05, seconds - 0.1))
    return np.repeat((buzz * spoken / 3)[:, None], channels, axis=1).astype(np.float32)


def _sound(path: Path, seconds: float, rate: int, channels: int = 1, subtype: str = "") -> None:
    soundfile.write(path, _speech(seconds, rate, channels), rate, subtype=subtype or None)


def _with_nan(path: Path) -> None:
    samples = _speech(1.5, 24000)
    samples[6000:6010] = np.nan
    soundfile.write(path, samples, 24000, subtype="FLOAT")


def _without_sound(path: Path) -> None:
    soundfile.write(path, np.zeros((0, 1), np.float32), 24000)


def _text(path: Path) -> None:
    path.write_text("Dear diary, today I was quiet. " * 99, encoding="utf-8")


def _cut(path: Path) -> None:
    _sound(path, 1.5, 24000)
    path.write_bytes(path.read_bytes()[:20])


# Unusual, but audio: soundfile reads them, and they can serve as a voice.
AUDIO: dict[str, Callable[[Path], None]] = {
    "8-bit.wav": lambda path: _sound(path, 1.5, 24000, subtype="PCM_U8"),
    "16-bit.wav": lambda path: _sound(path, 1.5, 24000, subtype="PCM_16"),
    "24-bit.wav": lambda path: _sound(path, 1.5, 24000, subtype="PCM_24"),
    "32-bit-float.wav": lambda path: _sound(path, 1.5, 24000, subtype="FLOAT"),
    "stereo.wav": lambda path: _sound(path, 1.5, 44100, channels=2),
    "5.1.wav": lambda path: _sound(path, 1.5, 48000, channels=6),
    "8-kHz.wav": lambda path: _sound(path, 1.5, 8000),
    "192-kHz.wav": lambda path: _sound(path, 1.5, 192000),
    "50-ms.wav": lambda path: _sound(path, 0.05, 24000),
    "10-minutes.wav": lambda path: _sound(path, 600, 8000),
    "voice.flac": lambda path: _sound(path, 1.5, 24000),
    "voice.ogg": lambda path: _sound(path, 1.5, 24000),
    "ein Name mit Lücken \u266b.wav": lambda path: _sound(path, 1.5, 24000),
}

# No voice in them: each needs a message that says why.
BROKEN_AUDIO: dict[str, Callable[[Path], None]] = {
    "empty.wav": lambda path: path.touch(),
    "not-audio.wav": _text,
    "cut.wav": _cut,
    "zero-length.wav": _without_sound,
    "nan.wav": _with_nan,
}


def audio(name: str, folder: Path) -> Path:
    """Write the voice of that name, one of `AUDIO` or `BROKEN_AUDIO`."""
    path = folder / name
    {**AUDIO, **BROKEN_AUDIO}[name](path)
    return path


# Voice states: what `export_model_state` writes, as `<module>/<tensor>`.


def state_of_more_layers(state: Path, folder: Path) -> Path:
    tensors = load_file(state)
    extra = len(_modules(tensors))
    copied = {
        f"transformer.layers.{extra}.self_attn/{key.partition('/')[2]}": value
        for key, value in tensors.items()
        if key.startswith("transformer.layers.0.")
    }
    return _saved(tensors | copied, folder / "more-layers.safetensors")


def state_of_fewer_layers(state: Path, folder: Path) -> Path:
    tensors = load_file(state)
    last = _modules(tensors)[-1]
    kept = {key: value for key, value in tensors.items() if not key.startswith(f"{last}/")}
    return _saved(kept, folder / "fewer-layers.safetensors")


def state_of_other_heads(state: Path, folder: Path) -> Path:
    return _saved(
        _with_caches(state, lambda cache: np.repeat(cache, 2, axis=3)),
        folder / "other-heads.safetensors",
    )


def state_of_other_dim(state: Path, folder: Path) -> Path:
    return _saved(
        _with_caches(state, lambda cache: np.repeat(cache, 2, axis=4)),
        folder / "other-dim.safetensors",
    )


def state_with_current_end(state: Path, folder: Path) -> Path:
    """As 1.x wrote it: no `offset`, but a tensor `current_end` whose *length* is the position."""
    tensors: State = {}
    for key, value in load_file(state).items():
        module, _, name = key.partition("/")
        if name == "offset":
            tensors[f"{module}/current_end"] = np.zeros(int(value[0]), np.float32)
        elif name == "cache":
            tensors[key] = value
    return _saved(tensors, folder / "current-end.safetensors")


def state_with_offset_past_the_cache(state: Path, folder: Path) -> Path:
    tensors = load_file(state)
    for key in tensors:
        if key.endswith("/offset"):
            tensors[key] = tensors[key] + 1000
    return _saved(tensors, folder / "offset-past-the-cache.safetensors")


def state_with_nan(state: Path, folder: Path) -> Path:
    """One value of one counted slot is NaN, in the first layer's keys."""
    tensors = load_file(state)
    key = f"{_modules(tensors)[0]}/cache"
    tensors[key] = tensors[key].copy()
    tensors[key][0, 0, 1, 0, 0] = np.nan
    return _saved(tensors, folder / "nan.safetensors")


def state_cut(state: Path, folder: Path) -> Path:
    path = folder / "cut.safetensors"
    path.write_bytes(state.read_bytes()[:-100])
    return path


def state_of_something_else(folder: Path) -> Path:
    """A sound safetensors file that is no voice state: keys without a module."""
    return _saved({"weight": np.zeros((3, 3), np.float32)}, folder / "something-else.safetensors")


def _modules(tensors: State) -> list[str]:
    return sorted({key.partition("/")[0] for key in tensors})


def _with_caches(
    state: Path, change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]
) -> State:
    tensors = load_file(state)
    return {
        key: np.ascontiguousarray(change(value)) if key.endswith("/cache") else value
        for key, value in tensors.items()
    }


def _saved(tensors: State, path: Path) -> Path:
    save_file(tensors, path)
    return path


# Configs, each made of a good one.


def config_without(config: Path, folder: Path, *keys: str) -> Path:
    """Leave out the entry under `keys`, such as `"flow_lm", "transformer", "d_model"`."""
    content = _loaded(config)
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return _written(content, folder / f"without-{keys[-1]}.yaml")


def config_with_unknown_key(config: Path, folder: Path) -> Path:
    return _written(_loaded(config) | {"colour": "blue"}, folder / "unknown-key.yaml")


def config_with_wrong_weights(config: Path, folder: Path) -> Path:
    """The weights lie there, but are those of a model with fewer layers."""
    content = _loaded(config)
    content["flow_lm"]["transformer"]["num_layers"] += 1
    return _written(content, folder / "wrong-weights.yaml")


def config_with_lost_weights(config: Path, folder: Path) -> Path:
    content = _loaded(config) | {"weights_path": str(folder / "lost.safetensors")}
    return _written(content, folder / "lost-weights.yaml")


def config_with_cut_weights(config: Path, folder: Path) -> Path:
    content = _loaded(config)
    weights = Path(content["weights_path"]).read_bytes()
    (folder / "cut-weights.safetensors").write_bytes(weights[: len(weights) // 2])
    content["weights_path"] = str(folder / "cut-weights.safetensors")
    return _written(content, folder / "cut-weights.yaml")


def config_that_is_no_yaml(folder: Path) -> Path:
    path = folder / "no-yaml.yaml"
    path.write_text("flow_lm: [unclosed\n\tmimi: {", encoding="utf-8")
    return path


def _loaded(config: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(config.read_text(encoding="utf-8"))
    return content


def _written(content: dict[str, Any], path: Path) -> Path:
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


# Training checkpoints.


def checkpoint(config: Path, folder: Path) -> Path:
    """What training writes: the weights of `config`, with their prefixes, under "model"."""
    import torch
    from safetensors.torch import load_file as load_torch

    path = folder / "checkpoint.pt"
    torch.save({"model": load_torch(_loaded(config)["weights_path"]), "step": 1000}, path)
    return path


def checkpoint_without_model(folder: Path) -> Path:
    import torch

    path = folder / "no-model.pt"
    torch.save({"optimizer": {"lr": torch.tensor(0.1)}}, path)
    return path


class _Hostile:
    """Unpickling it makes a folder: harmless proof that code was run."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.marker),)


def hostile_checkpoint(folder: Path, marker: Path) -> Path:
    """A `.pt` in torch's zip format whose pickle makes the folder `marker` when it is run."""
    path = folder / "hostile.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("hostile/data.pkl", _pickled(marker))
        archive.writestr("hostile/version", "3\n")
        archive.writestr("hostile/byteorder", "little")
    return path


def hostile_plain_pickle(folder: Path, marker: Path) -> Path:
    """The same as a bare pickle, which is what torch wrote before its zip format."""
    path = folder / "hostile-plain.pt"
    path.write_bytes(_pickled(marker))
    return path


def _pickled(marker: Path) -> bytes:
    stream = io.BytesIO()
    pickle.Pickler(stream, protocol=2).dump({"model": _Hostile(marker)})
    return stream.getvalue()
