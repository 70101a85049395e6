"""A model of a packaged config's full size with random weights, made without a download.

For measuring: random weights cost as much time as trained ones, and say nothing.
"""

import json
import tempfile
from pathlib import Path

import torch

from kvstudio.engine.pocket import TTS

NEVER_ENDS = -100.0
ALPHABET = "abcdefghijklmnopqrstuvwxyz.!?,;:'-"


def random_model(language: str = "english", seed: int = 0) -> TTS:
    """The model of a config that the installed pocket-tts (4.0 or later) ships; never emits EOS."""
    from pocket_tts import TTSModel
    from pocket_tts.models.mimi import build_mimi
    from pocket_tts.models.tts_model import stamp_state_names
    from pocket_tts.utils.config import CONFIGS_DIR, load_config

    torch.manual_seed(seed)
    config = load_config(CONFIGS_DIR / f"{language}.yaml")
    table = config.flow_lm.lookup_table
    table.tokenizer = "tokenizers"
    with tempfile.TemporaryDirectory(prefix="kvstudio-bench-") as scratch:
        table.tokenizer_path = str(_character_tokenizer(table.n_bins, Path(scratch)))
        tts = TTSModel._from_pydantic_config(config, 0.0, 1, None, 0.0, None)
    width = config.mimi.inner_dim or config.mimi.seanet.dimension
    projection = torch.randn(config.flow_lm.transformer.d_model, width) * width**-0.5
    tts.flow_lm.speaker_proj_weight = torch.nn.Parameter(projection)
    tts.mimi = build_mimi(config.mimi)
    torch.nn.init.constant_(tts.flow_lm.out_eos.bias, NEVER_ENDS)
    stamp_state_names(tts)
    return tts.eval()


def _character_tokenizer(vocabulary: int, folder: Path) -> Path:
    """A `tokenizers` file with one token a character and unused ones up to the size asked for."""
    tokens = ["<unk>", "▁", *ALPHABET]
    tokens += [f"<unused{number}>" for number in range(len(tokens), vocabulary)]
    model = {
        "type": "BPE",
        "vocab": {token: number for number, token in enumerate(tokens)},
        "merges": [],
        "unk_token": "<unk>",
    }
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, space]},
        "decoder": {"type": "Sequence", "decoders": [back, {"type": "Fuse"}]},
        "model": model,
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    return path
