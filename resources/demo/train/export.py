"""Puts what was trained together as a model that pocket-tts opens, with a prompt per voice."""

import logging
import shutil
from pathlib import Path

import safetensors.torch
from scipy.io import wavfile
from torch import Tensor

from train.models import CONFIG, new_codec
from train.plan import RATE
from train.recordings import record
from train.stages import Work

log = logging.getLogger("train")

PROMPT = "the old river runs."  # 1.5 seconds


def export(work: Work, out: Path) -> None:
    """Write config, weights, tokenizer and voices into `out`."""
    (out / "voices").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(CONFIG, out / "config.yaml")
    shutil.copyfile(work.tokenizer, out / "tokenizer.json")
    weights = out / "model.safetensors"
    safetensors.torch.save_file(all_weights(work), weights)
    weights.chmod(0o644)  # like the other files; safetensors keeps it to its owner
    for name, samples in record(PROMPT).audio.items():
        wavfile.write(out / "voices" / f"{name}.wav", RATE, samples)
    log.info("%s: %.2f MB", weights, weights.stat().st_size / 1e6)


def all_weights(work: Work) -> dict[str, Tensor]:
    """Every tensor under the name pocket-tts looks for."""
    codec = {**work.weights("encoder"), **work.weights("decoder")}
    if missing := set(new_codec(0).state_dict()) ^ set(codec):
        raise ValueError(f"the codec has weights that were not trained: {sorted(missing)}")
    weights = {f"mimi.{name}": tensor for name, tensor in codec.items()}
    weights |= {f"flow_lm.{name}": tensor for name, tensor in work.weights("flow_lm").items()}
    return {name: tensor.contiguous().clone() for name, tensor in weights.items()}
