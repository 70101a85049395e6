"""Puts what was trained together as a model that pocket-tts opens, with a prompt per voice."""

import logging
import shutil
from pathlib import Path
from typing import Any

import safetensors.torch
import yaml
from scipy.io import wavfile
from torch import Tensor

from train.models import CONFIG, new_codec
from train.plan import RATE
from train.recordings import record
from train.stages import Work
from train.tokenizer import make_sentencepiece

log = logging.getLogger("train")

PROMPT = "the old river runs."  # 1.5 seconds


def export(work: Work, out: Path) -> None:
    """Write config, weights, tokenizer and voices into `out`."""
    (out / "voices").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(CONFIG, out / "config.yaml")
    shutil.copyfile(work.tokenizer, out / "tokenizer.json")
    config = yaml.safe_dump(config_for_2(), sort_keys=False)
    (out / "config-2.yaml").write_text(config, encoding="utf-8")
    make_sentencepiece(out / "tokenizer.model")
    weights = out / "model.safetensors"
    safetensors.torch.save_file(all_weights(work), weights)
    weights.chmod(0o644)  # like the other files; safetensors keeps it to its owner
    for name, samples in record(PROMPT).audio.items():
        wavfile.write(out / "voices" / f"{name}.wav", RATE, samples)
    log.info("%s: %.2f MB", weights, weights.stat().st_size / 1e6)


def config_for_2() -> dict[str, Any]:
    """The config as far as pocket-tts 2 understands it; the weights are the same."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    for unknown in ("default_temperature", "capitalize_first_letter"):
        del config[unknown]
    del config["flow_lm"]["flow"]["type"]
    tokenizer = {"tokenizer": "sentencepiece", "tokenizer_path": "tokenizer.model"}
    config["flow_lm"]["lookup_table"] |= tokenizer
    return config


def all_weights(work: Work) -> dict[str, Tensor]:
    """Every tensor under the name pocket-tts looks for."""
    codec = {**work.weights("encoder"), **work.weights("decoder")}
    wanted = {name: tensor.shape for name, tensor in new_codec(0).state_dict().items()}
    if wrong := {
        name for name, _ in wanted.items() ^ {n: t.shape for n, t in codec.items()}.items()
    }:
        raise ValueError(f"the codec has weights that were not trained as such: {sorted(wrong)}")
    weights = {f"mimi.{name}": tensor for name, tensor in codec.items()}
    weights |= {f"flow_lm.{name}": tensor for name, tensor in work.weights("flow_lm").items()}
    return {name: tensor.contiguous().clone() for name, tensor in weights.items()}
