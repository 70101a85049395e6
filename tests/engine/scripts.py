"""What users write around a model: whole calls, and the loop of the model taken apart."""
# ruff: noqa: ANN401 -- a model of any release

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from pocket_tts.modules.stateful_module import increment_steps, init_states

from kvstudio.engine.demo import demo_config, demo_voice
from kvstudio.recording.reader import Recording

HELLO = "Hello world."
MIMI_STEPS = 16


def demo_model() -> Any:
    """The demo model, decoding a frame a call as a recorded one does."""
    from pocket_tts import TTSModel

    with demo_config() as config:
        tts = TTSModel.load_model(config=str(config))
    tts.max_decoder_frames_per_call = 1
    return tts


def voice(tts: Any, name: str = "low") -> Any:
    return tts.get_state_for_audio_prompt(demo_voice(name))


def say(tts: Any, state: Any, text: str = HELLO, **how: Any) -> torch.Tensor:
    torch.manual_seed(1)
    audio: torch.Tensor = tts.generate_audio(state, text, **how)
    return audio


@torch.no_grad()
def prefilled(tts: Any, state: Any, *, frames: int, text: str = HELLO) -> Any:
    """A copy of a voice state with room for some frames, and the text in it."""
    state = copy.deepcopy(state)
    tokens = tts.flow_lm.conditioner.prepare(text)
    needed = tts._flow_lm_current_end(state) + tokens.shape[1] + frames
    tts._expand_kv_cache(state, needed)
    tts._run_flow_lm_and_increment_step(model_state=state, text_tokens=tokens)
    return state


@torch.no_grad()
def steps(tts: Any, state: Any, count: int) -> Iterator[torch.Tensor]:
    """So many latents `[1, 1, dim]`, from the start marker on."""
    latent = torch.full((1, 1, tts.flow_lm.ldim), float("nan"))
    for _ in range(count):
        latent, _ = tts._run_flow_lm_and_increment_step(
            model_state=state, backbone_input_latents=latent
        )
        yield latent


def fresh_codec(tts: Any, frames: int = 40) -> Any:
    return init_states(tts.mimi, batch_size=1, sequence_length=frames * MIMI_STEPS)


@torch.no_grad()
def decode(tts: Any, latent: torch.Tensor, codec: Any) -> torch.Tensor:
    audio: torch.Tensor = tts.mimi.decode_from_latent(
        latent * tts.flow_lm.emb_std + tts.flow_lm.emb_mean, codec
    )
    increment_steps(tts.mimi, codec, increment=MIMI_STEPS * latent.shape[1])
    return audio.reshape(-1)


def in_one_thread(tts: Any, state: Any, count: int = 5) -> torch.Tensor:
    """The loop of the model taken apart: no thread but the caller's."""
    torch.manual_seed(1)
    state = prefilled(tts, state, frames=count)
    codec = fresh_codec(tts)
    return torch.cat([decode(tts, latent, codec) for latent in steps(tts, state, count)])


def titles(recording: Recording) -> list[str]:
    return [frame.title for frame in recording.frames]


@contextmanager
def untouched(tts: Any) -> Iterator[None]:
    """Fails if what happens meanwhile leaves anything on any module."""
    before = marks(tts)
    yield
    assert marks(tts) == before


def marks(tts: Any) -> dict[str, object]:
    """Everything on every module that a wrapper, a hook or another class would change."""
    found: dict[str, object] = {}
    for name, module in tts.named_modules():
        own = {key: id(value) for key, value in vars(module).items()}
        hooks = [list(value) for key, value in vars(module).items() if key.endswith("_hooks")]
        found[name] = (type(module), own, hooks, type(module).__dict__.keys())
    return found
