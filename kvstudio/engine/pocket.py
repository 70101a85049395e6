"""The one module that names pocket-tts internals: what releases 2.0.0 to 4.0.1 have in common.

load_model                        a TTSModel from a ModelSource
cache_rows                        rows for every KV cache of FlowLM and Mimi
TTSModel._expand_kv_cache         ┐
TTSModel._run_flow_lm_and_...     │ wrapped on the instance by observer.py
MimiModel.decode_from_latent      ┘
"""

import inspect
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from kvstudio.engine.demo import demo_config, demo_settings
from kvstudio.recording.errors import SpecError
from kvstudio.recording.rows import Cache
from kvstudio.recording.spec import ModelSource, RunSpec

TTS = Any  # pocket_tts.TTSModel; pocket-tts is imported late and its forks need not be subclasses
# Names of one setting in different releases.
DECODE_STEPS_NAMES = ("sampler_decode_steps", "lsd_decode_steps")


def load_model(source: ModelSource) -> TTS:
    """Loads a model the way pocket-tts does.

    Raises:
        SpecError: this pocket-tts cannot load such a source.
        Exception: whatever pocket-tts raises; `failures.explain` puts it in words.
    """
    from pocket_tts import TTSModel

    if source.kind == "language" and source.value not in languages():
        raise SpecError(
            f"this release of pocket-tts has no language {source.value!r}; it has "
            f"{', '.join(languages())}"
        )
    if source.kind == "demo":
        with demo_config() as config:
            return _load(TTSModel, source, {"config": str(config), **demo_settings()})
    return _load(TTSModel, source, _load_arguments(source))


def _load(model_class: Any, source: ModelSource, wanted: dict[str, object]) -> TTS:
    if source.quantize:
        wanted = {**wanted, "quantize": True}
    known = inspect.signature(model_class.load_model).parameters
    for name in wanted:
        if name not in known:
            raise SpecError(f"this release of pocket-tts cannot load a model by {name}")
    tts = model_class.load_model(**wanted)
    if source.device != "cpu":
        tts.to(source.device)
    return tts


def origin(tts: TTS) -> str:
    """The language or the config that a model was loaded from, as far as it knows."""
    config = getattr(tts, "origin", None)
    if config is None:
        return ""
    packaged = Path(config).parent.parts[-2:] == ("pocket_tts", "config")
    return Path(config).stem if packaged else str(config)


def languages() -> list[str]:
    """The configs that the installed pocket-tts ships."""
    import pocket_tts

    folder = Path(pocket_tts.__file__).parent / "config"
    return sorted(path.stem for path in folder.glob("*.yaml"))


def predefined_voices() -> list[str]:
    from pocket_tts.utils import utils

    return sorted(getattr(utils, "_ORIGINS_OF_PREDEFINED_VOICES", {}))


def _load_arguments(source: ModelSource) -> dict[str, object]:
    if source.kind != "checkpoint":
        return {source.kind: source.value}
    arguments: dict[str, object] = {"checkpoint": source.value}
    if source.config:
        arguments["language" if source.config in languages() else "config"] = source.config
    return arguments


# ---- settings of a run -------------------------------------------------------------------------


class Settings:
    """The sampling settings of a loaded model, so that a run can change and restore them."""

    def __init__(self, tts: TTS) -> None:
        self.names = [
            name for name in ("temp", "eos_threshold", *DECODE_STEPS_NAMES) if hasattr(tts, name)
        ]
        self.defaults = {name: getattr(tts, name) for name in self.names}

    @property
    def decode_steps_name(self) -> str:
        return next(name for name in DECODE_STEPS_NAMES if name in self.defaults)

    def apply(self, tts: TTS, spec: RunSpec) -> None:
        """Sets what the spec asks for and the model's own values for the rest."""
        wanted = {
            "temp": spec.temperature,
            "eos_threshold": spec.eos_threshold,
            self.decode_steps_name: spec.decode_steps,
        }
        for name in self.names:
            value = wanted.get(name)
            default = self.defaults[name]
            # Releases 2.x refuse an int where they expect a float.
            setattr(tts, name, default if value is None else type(default)(value))

    def restore(self, tts: TTS) -> None:
        for name, value in self.defaults.items():
            setattr(tts, name, value)


def stream_arguments(tts: TTS, spec: RunSpec, end: threading.Event) -> dict[str, object]:
    """Keyword arguments of `generate_audio_stream` that the spec asks for.

    `end` is set when the run is to end; releases from 3.3 on look at it too.
    """
    arguments: dict[str, object] = {"copy_state": spec.copy_state, "stop": end}
    if spec.frames_after_eos is not None:
        arguments["frames_after_eos"] = spec.frames_after_eos
    if spec.max_tokens is not None:
        arguments["max_tokens"] = spec.max_tokens
    known = inspect.signature(tts.generate_audio_stream).parameters
    return {name: value for name, value in arguments.items() if name in known}


# ---- text --------------------------------------------------------------------------------------


def token_count(prepared: object) -> int:
    """Text tokens in what `conditioner.prepare` returned: a tensor [1, n], or a tuple around it."""
    tensor = prepared if isinstance(prepared, torch.Tensor) else prepared[0]  # type: ignore[index]
    return int(tensor.shape[1])


def token_pieces(tts: TTS, ids: list[int]) -> tuple[tuple[int, str], ...]:
    """Each token id with its piece of text, as far as the tokenizer tells."""
    tokenizer = tts.flow_lm.conditioner.tokenizer
    for holder, method in (("tokenizer", "id_to_token"), ("sp", "id_to_piece")):
        look = getattr(getattr(tokenizer, holder, None), method, None)
        if look is not None:
            return tuple((number, str(look(number))) for number in ids)
    return tuple((number, "?") for number in ids)


def split_text(tts: TTS, text: str, max_tokens: int | None) -> list[str]:
    """The chunks that pocket-tts will speak one at a time, as the model will be given them."""
    from pocket_tts.models import tts_model

    split = tts_model.split_into_best_sentences
    known = inspect.signature(split).parameters
    named = {name: getattr(tts, name) for name in known if hasattr(tts, name)}
    tokens = default_max_tokens(tts) if max_tokens is None else max_tokens
    tokenizer = tts.flow_lm.conditioner.tokenizer
    chunks = split(tokenizer, text_to_generate=text, max_tokens=tokens, **named)
    return [_prepared_text(tts, chunk) for chunk in chunks]


def default_max_tokens(tts: TTS) -> int:
    return int(inspect.signature(tts.generate_audio_stream).parameters["max_tokens"].default)


def _prepared_text(tts: TTS, chunk: str) -> str:
    from pocket_tts.models import tts_model

    prepare = tts_model.prepare_text_prompt
    known = list(inspect.signature(prepare).parameters)
    named = {name: getattr(tts, name) for name in known[1:] if hasattr(tts, name)}
    return str(prepare(chunk, **named)[0])


def max_gen_len(tts: TTS, tokens: int) -> int:
    """Frames that the model estimates for so many text tokens at most."""
    return int(tts._estimate_max_gen_len(tokens))


def mimi_steps_per_latent(tts: TTS) -> int:
    return int(tts.mimi.encoder_frame_rate / tts.mimi.frame_rate)


def latents_in(tts: TTS, given: torch.Tensor) -> int:
    """How many latents `decode_from_latent` is given: [1, n, dim], or [1, dim, n] in 2.x."""
    return int(given.shape[1] if given.shape[-1] == tts.flow_lm.ldim else given.shape[-1])


def is_latent(tts: TTS, given: torch.Tensor, latent: torch.Tensor) -> bool:
    """Whether what `decode_from_latent` is given was made of this latent [1, 1, dim]."""
    expected = latent * tts.flow_lm.emb_std + tts.flow_lm.emb_mean
    if given.shape != expected.shape:  # 2.x quantises before
        expected = tts.mimi.quantizer(expected.transpose(-1, -2))
    return given.shape == expected.shape and torch.allclose(given, expected, equal_nan=True)


# ---- caches ------------------------------------------------------------------------------------


def attention_modules(model: torch.nn.Module) -> dict[str, Any]:
    """The modules that own a KV cache, by their state key."""
    return {
        getattr(module, "_module_absolute_name", None) or name: module
        for name, module in model.named_modules()
        if hasattr(module, "num_heads") and hasattr(module, "in_proj")
    }


def cache_rows(tts: TTS) -> list[Cache]:
    """Every KV cache of FlowLM, then of Mimi's decoder and encoder, numbered in that order."""
    rows: list[Cache] = []
    for model, module in (("flow_lm", tts.flow_lm), ("mimi", tts.mimi)):
        for name, attention in _decoder_first(attention_modules(module)):
            dtype, device = attention_weight(attention)
            rows.append(
                Cache(
                    id=len(rows),
                    model=model,
                    name=name,
                    layer=_layer_number(name),
                    batch=1,
                    heads=kv_heads(attention),
                    dim=head_dim(attention),
                    context=_context(module, name, attention),
                    weight_dtype=dtype,
                    weight_device=device,
                )
            )
    return rows


def _context(model: torch.nn.Module, name: str, attention: Any) -> int | None:
    """How many slots a layer is to look back: what its transformer was built for, if it says so.

    The layer's own number is the one that attention goes by, and may be the one that is wrong.
    """
    with suppress(AttributeError):
        transformer: Any = model.get_submodule(name.partition(".layers.")[0])
        return None if transformer.context is None else int(transformer.context)
    return getattr(attention, "context", None)


def fresh_state(model: torch.nn.Module) -> dict[str, dict[str, torch.Tensor]] | None:
    """A streaming state of `model` as it is when just made, with caches of one slot.

    None if this release or fork makes them in another way.
    """
    with suppress(Exception):
        from pocket_tts.modules.stateful_module import init_states

        state: dict[str, dict[str, torch.Tensor]] = init_states(model, 1, sequence_length=1)
        return state
    return None


def kv_heads(attention: Any) -> int:
    return int(getattr(attention, "num_kv_heads", attention.num_heads))


def head_dim(attention: Any) -> int:
    return int(getattr(attention, "dim_per_head", attention.embed_dim // attention.num_heads))


def attention_weight(attention: Any) -> tuple[str, str]:
    """(dtype, device) that the layer computes its keys and values in."""
    weight = attention.in_proj.weight
    if not isinstance(weight, torch.Tensor):
        # An int8 dynamic linear of torch.ao: its weight is a method, its activations float32.
        return "float32", str(weight().device)
    if not weight.dtype.is_floating_point:
        return "float32", str(weight.device)
    return str(weight.dtype).removeprefix("torch."), str(weight.device)


def _decoder_first(modules: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(modules.items(), key=lambda item: (is_encoder(item[0]), _layer_number(item[0])))


def is_encoder(name: str) -> bool:
    """Whether a cache is one of Mimi's encoder: it is counted up while speaking, never written."""
    return "encoder" in name


def _layer_number(name: str) -> int:
    numbers = [part for part in name.split(".") if part.isdigit()]
    return int(numbers[-1]) if numbers else 0
