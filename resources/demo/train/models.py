"""pocket-tts' own modules, freshly initialised, from the config that goes with the weights."""

import math
from pathlib import Path
from typing import Any

import torch
import yaml
from pocket_tts.models.flow_lm import FlowLMModel
from pocket_tts.models.mimi import MimiModel, build_mimi
from pocket_tts.utils.config import Config
from torch import nn

CONFIG = Path(__file__).with_name("config.yaml")
EOS_THRESHOLD = -4.0  # of every release of pocket-tts, unless it is told another


def demo_config(tokenizer: Path | None = None) -> Config:
    """The demo model's config, with its tokenizer where it is now."""
    fields: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    if tokenizer:
        fields["flow_lm"]["lookup_table"]["tokenizer_path"] = str(tokenizer)
    return Config(**fields)


def latent_size() -> int:
    """Numbers per latent."""
    return int(demo_config().mimi.quantizer.dimension)


def new_codec(seed: int) -> MimiModel:
    torch.manual_seed(seed)
    return build_mimi(demo_config().mimi)


def new_flow_lm(tokenizer: Path, seed: int) -> FlowLMModel:
    """A FlowLM that keeps its signals at scale 1 from the first step on."""
    torch.manual_seed(seed)
    config = demo_config(tokenizer)
    flow_lm = FlowLMModel.from_pydantic_config(
        config.flow_lm, latent_dim=config.mimi.quantizer.dimension, insert_bos_before_voice=True
    )
    width = config.flow_lm.transformer.d_model
    # pocket-tts adds this one when it loads weights, not when it builds the model.
    voice_projection = torch.randn(width, config.mimi.quantizer.dimension) * 0.3
    flow_lm.speaker_proj_weight = nn.Parameter(voice_projection)
    _initialise(flow_lm, width)
    return flow_lm


@torch.no_grad()
def _initialise(flow_lm: FlowLMModel, width: int) -> None:
    flow_lm.bos_before_voice.mul_(0.5)
    flow_lm.conditioner.embed.weight.mul_(0.5)
    flow_lm.bos_emb.mul_(0.5)
    flow_lm.input_linear.weight.normal_(0, 0.2)
    flow_lm.out_eos.bias.fill_(EOS_THRESHOLD)
    layers = flow_lm.transformer.layers
    into_residual = 1 / math.sqrt(2 * len(layers))
    for layer in layers:
        for linear in (layer.self_attn.in_proj, layer.linear1):
            linear.weight.normal_(0, linear.in_features**-0.5)
        for linear in (layer.self_attn.out_proj, layer.linear2):
            linear.weight.normal_(0, linear.in_features**-0.5 * into_residual)
    for block in flow_lm.flow_net.res_blocks:
        block.adaLN_modulation[1].weight.mul_(0.3)
