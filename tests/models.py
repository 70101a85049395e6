"""Complete pocket-tts models of any shape with random weights, made without a download.

`build("english", folder)` writes what `TTSModel.load_model(config=...)` needs (a config derived
from the packaged one of that name, weights, a tokenizer) and a voice state beside it. `TINY` and
`TINY_GROUPED` are the same architecture shrunk until it builds in a second or two.

The file runs by itself too (`python models.py NAME FOLDER`), inside the interpreter of another
pocket-tts release: it derives everything from what that release packages, and so writes a model
that fits that release's config schema.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

TINY = "tiny"
TINY_GROUPED = "tiny-grouped"
ENGLISH = "english"
ENGLISH_24L = "english_2026-04_24l"
ENGLISH_2M = "english_2m_2026-10"

# What `english` is shrunk to. Mimi keeps its ratios, and so its 16 steps per latent.
_SHRUNK: dict[str, Any] = {
    "flow_lm": {
        "flow": {"dim": 16, "depth": 1},
        "transformer": {"d_model": 48, "num_heads": 3, "num_layers": 3, "hidden_scale": 2},
        "lookup_table": {"dim": 48, "n_bins": 300},
    },
    "mimi": {
        "outer_dim": 32,
        "seanet": {"dimension": 32, "n_filters": 4},
        "transformer": {
            "d_model": 32,
            "num_heads": 2,
            "context": 40,
            "dim_feedforward": 64,
            "input_dimension": 32,
            "output_dimensions": [32],
        },
        "quantizer": {"output_dimension": 32},
    },
}
_GROUPED: dict[str, Any] = {"flow_lm": {"transformer": {"num_kv_heads": 1}}}

# A stop logit that never reaches a threshold, and one that is always past it.
NEVER_ENDS = -100.0
ENDS_AT_ONCE = 100.0

VOICE_SAMPLES = 24000

# These never merge with a neighbour: pocket-tts finds the ends of sentences and clauses by encoding
# ".!...?" and ",;:" and looking for those very tokens.
_PUNCTUATION = ".!?,;:"


def build(name: str, folder: Path, *, seed: int = 0, eos_bias: float = NEVER_ENDS) -> Path:
    """Write a complete local model into `folder`.

    Args:
        name: a packaged config of the installed pocket-tts, `TINY` or `TINY_GROUPED`.
        folder: made if need be; gets `config.yaml`, `model.safetensors`, the tokenizer and
            `voice.safetensors`.
        seed: of the weights.
        eos_bias: bias of the stop logit. The rest of the logit stays within about +-2, so
            `NEVER_ENDS` runs to maximum length and `ENDS_AT_ONCE` ends as early as it may.

    Returns:
        The path of the config, whose own paths are absolute.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    config = _config(name)
    table = config["flow_lm"]["lookup_table"]
    write = {"sentencepiece": write_sentencepiece, "tokenizers": write_tokenizers}
    table["tokenizer_path"] = str(write[table["tokenizer"]](folder, table["n_bins"]))
    _write_weights(config, folder, seed=seed, eos_bias=eos_bias)
    config["weights_path"] = str(folder / "model.safetensors")
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return path


def packaged_config(name: str) -> dict[str, Any]:
    """The config of that name as the installed pocket-tts ships it."""
    from pocket_tts.utils.config import CONFIGS_DIR

    text = (Path(CONFIGS_DIR) / f"{name}.yaml").read_text(encoding="utf-8")
    config: dict[str, Any] = yaml.safe_load(text)
    return config


def _config(name: str) -> dict[str, Any]:
    config = packaged_config(ENGLISH if name in (TINY, TINY_GROUPED) else name)
    config.pop("weights_path")
    config.pop("weights_path_without_voice_cloning")
    if name in (TINY, TINY_GROUPED):
        _merge(config, _SHRUNK)
    if name == TINY_GROUPED:
        _merge(config, _GROUPED)
    return config


def _merge(config: dict[str, Any], changes: dict[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, dict):
            _merge(config[key], value)
        else:
            config[key] = value


def _write_weights(config: dict[str, Any], folder: Path, *, seed: int, eos_bias: float) -> None:
    import torch
    from pocket_tts import TTSModel, export_model_state
    from pocket_tts.utils.config import Config
    from safetensors.torch import save_file

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        # Without a weights path the loader only warns, and hands out the modules as torch
        # initialises them, which is scaled so that hidden states stay finite.
        tts = TTSModel._from_pydantic_config_with_weights(Config(**config), 0.3, 1, None, -4.0)
        latent_dim = tts.flow_lm.speaker_proj_weight.shape[1]
        tts.flow_lm.speaker_proj_weight.normal_(0.0, latent_dim**-0.5)
        tts.flow_lm.out_eos.bias.fill_(eos_bias)
        save_file(
            {key: value.contiguous() for key, value in tts.state_dict().items()},
            folder / "model.safetensors",
        )
        state = tts.get_state_for_audio_prompt(0.1 * torch.randn(1, VOICE_SAMPLES))
        export_model_state(state, folder / "voice.safetensors")


def write_tokenizers(folder: Path, n_bins: int) -> Path:
    """Write `tokenizer.json` with exactly `n_bins` entries; text in ASCII survives a round trip.

    Punctuation never merges: pocket-tts finds sentence ends by encoding ".!...?" and looking for
    those very tokens.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Punctuation("isolated")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    trainer = trainers.BpeTrainer(
        vocab_size=n_bins,
        special_tokens=["<unk>"],
        initial_alphabet=[*map(chr, range(33, 127)), "▁"],
        limit_alphabet=96,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_english(), trainer)
    _require(tokenizer.get_vocab_size(), n_bins)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def write_sentencepiece(folder: Path, n_bins: int) -> Path:
    """Write `tokenizer.model` with exactly `n_bins` entries; ASCII survives a round trip."""
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_english(),
        model_prefix=str(folder / "tokenizer"),
        vocab_size=n_bins,
        model_type="bpe",
        character_coverage=1.0,
        required_chars="".join(sorted({*map(chr, range(33, 127))} - {*_PUNCTUATION})),
        user_defined_symbols=list(_PUNCTUATION),
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        split_by_unicode_script=True,
        minloglevel=2,
    )
    (folder / "tokenizer.vocab").unlink()
    path = folder / "tokenizer.model"
    _require(sentencepiece.SentencePieceProcessor(model_file=str(path)).vocab_size(), n_bins)
    return path


def _require(found: int, n_bins: int) -> None:
    if found != n_bins:
        raise ValueError(f"the tokenizer has {found} entries, the config wants {n_bins}")


def _english() -> Iterator[str]:
    """Ordinary English that every Python carries: its own manual, about 700,000 characters."""
    from pydoc_data.topics import topics

    for text in topics.values():
        for line in text.splitlines():
            plain = " ".join(line.encode("ascii", "ignore").decode().split())
            if plain:
                yield plain


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--eos-bias", type=float, default=NEVER_ENDS)
    given = parser.parse_args(arguments)
    build(given.name, given.folder, eos_bias=given.eos_bias)


if __name__ == "__main__":
    main(sys.argv[1:])
