"""Describes a model, a text's budget and the environment, as plain data."""

import platform
from importlib import metadata
from typing import Any

import torch

import kvstudio
from kvstudio.engine import pocket
from kvstudio.recording.spec import ModelSource

PACKAGES = {"pocket_tts": "pocket-tts", "numpy": "numpy", "torchao": "torchao"}


def model_card(tts: pocket.TTS, source: ModelSource) -> dict[str, Any]:
    """Identity and dimensions of a loaded model."""
    rows = pocket.cache_rows(tts)
    flow = [row for row in rows if row.model == "flow_lm"]
    settings = pocket.Settings(tts)
    return {
        "name": source.title,
        "kind": source.kind,
        "origin": source.value or source.kind,
        "layers": len(flow),
        "heads": flow[0].heads if flow else 0,
        "dim": flow[0].dim if flow else 0,
        "mimi_layers": len([row for row in rows if row.model == "mimi"]),
        "parameters": sum(p.numel() for p in tts.parameters()),
        "dtype": flow[0].weight_dtype if flow else "",
        "device": str(tts.device),
        "quantized": quantization(tts),
        "sample_rate": int(tts.sample_rate),
        "frame_rate": float(tts.mimi.frame_rate),
        "slot_bytes": sum(row.slot_floats * 4 for row in flow),
        "temperature": float(settings.defaults["temp"]),
        "eos_threshold": float(settings.defaults["eos_threshold"]),
        "decode_steps": int(settings.defaults[settings.decode_steps_name]),
        "max_tokens": pocket.default_max_tokens(tts),
    }


def quantization(tts: pocket.TTS) -> str:
    """The backend that quantised the attention layers, such as `torch.ao int8`, or empty."""
    for attention in pocket.attention_modules(tts.flow_lm).values():
        weight = attention.in_proj.weight
        if not isinstance(weight, torch.Tensor):
            return f"torch.ao {str(weight().dtype).removeprefix('torch.')}"
        if type(weight) not in (torch.Tensor, torch.nn.Parameter):
            return f"torchao {type(weight).__name__}"
    return ""


def budget(
    tts: pocket.TTS, text: str, max_tokens: int | None, voice_slots: int
) -> list[dict[str, Any]]:
    """What every chunk of a text will ask of the caches, before the first op."""
    slot_bytes = sum(
        row.slot_floats * 4 for row in pocket.cache_rows(tts) if row.model == "flow_lm"
    )
    mimi_bytes = sum(row.slot_floats * 4 for row in pocket.cache_rows(tts) if row.model == "mimi")
    chunks = []
    for chunk in pocket.split_text(tts, text, max_tokens) if text.strip() else []:
        tokens = pocket.token_count(tts.flow_lm.conditioner.prepare(chunk))
        frames = pocket.max_gen_len(tts, tokens)
        required = voice_slots + tokens + frames
        mimi_slots = frames * pocket.mimi_steps_per_latent(tts)
        chunks.append(
            {
                "text": chunk,
                "current_end": voice_slots,
                "token_count": tokens,
                "max_gen_len": frames,
                "required_len": required,
                "bytes": required * slot_bytes + mimi_slots * mimi_bytes,
            }
        )
    return chunks


def versions() -> dict[str, str]:
    found = {
        "kvstudio": kvstudio.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    for name, package in PACKAGES.items():
        try:
            found[name] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def devices() -> list[str]:
    """Devices a model can be put on here."""
    found = ["cpu"]
    if torch.cuda.is_available():
        found += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return found
