"""Runs the model on the side: another clip, another voice, another speaker.

The methods of the class are called, not those of the instance, so the observer does not take it
for the run; and a thread of its own does it, so no tracer of the run sees its ops.
"""

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from kvstudio.engine import pocket
from kvstudio.engine.faults.live import module_of


def on_the_side(do: Callable[[], Any], name: str = "on the side") -> Any:
    """What `do` returns, done in a thread of its own, without gradients, while we wait."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            with torch.no_grad():
                outcome.extend((do(), None))
        except BaseException as error:  # noqa: BLE001 -- raised again by whoever waits
            outcome.extend((None, error))

    thread = threading.Thread(target=run, name=name)
    thread.start()
    thread.join()
    result, error = outcome
    if error is not None:
        raise error
    return result


@contextmanager
def other_noise(generator: torch.Generator) -> Iterator[None]:
    """While entered, torch's own random numbers are others; the run's are left alone."""
    seed = int(torch.randint(2**31, (1,), generator=generator))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def step(tts: pocket.TTS, state: Any, **fed: torch.Tensor) -> Any:
    """One pass of FlowLM on `state`, which moves on."""
    return type(tts)._run_flow_lm_and_increment_step(tts, model_state=state, **fed)


def speak(tts: pocket.TTS, state: Any, tokens: int, steps: int, generator: torch.Generator) -> None:
    """Says some random tokens with `state`, as a run before this one would have."""

    def run() -> None:
        with other_noise(generator):
            end = type(tts)._flow_lm_current_end(tts, state)
            type(tts)._expand_kv_cache(tts, state, sequence_length=end + tokens + steps)
            step(tts, state, text_tokens=random_tokens(tts, tokens))
            latent = torch.full((1, 1, tts.flow_lm.ldim), float("nan"), device=tts.device)
            for _ in range(steps):
                latent, _ = step(tts, state, backbone_input_latents=latent)

    on_the_side(run)


def listened_state(tts: pocket.TTS, slots: int, generator: torch.Generator) -> Any:
    """The voice state of a voice that is nothing but noise."""

    def run() -> Any:
        with other_noise(generator):
            init = module_of(tts).init_states
            state = init(tts.flow_lm, batch_size=1, sequence_length=slots)
            noise = torch.randn(1, slots, tts.flow_lm.dim, device=tts.device)
            step(tts, state, audio_conditioning=noise)
        return state

    return on_the_side(run)


def random_tokens(tts: pocket.TTS, count: int) -> torch.Tensor:
    """`[1, count]` token ids that the model knows."""
    known = int(tts.flow_lm.conditioner.embed.num_embeddings) - 1  # the last one is for padding
    return torch.randint(1, known, (1, count), device=tts.device)


@contextmanager
def other_weights(tts: pocket.TTS, generator: torch.Generator) -> Iterator[None]:
    """While entered, FlowLM's transformer is one of the same shape with other weights."""
    own = tts.flow_lm.transformer
    other = copy.deepcopy(own)
    for module in list(other.modules()):
        for name, child in list(module.named_children()):
            if hasattr(child, "in_features"):
                setattr(module, name, _other_linear(child, generator))
    tts.flow_lm.transformer = other
    try:
        yield
    finally:
        tts.flow_lm.transformer = own


def _other_linear(linear: Any, generator: torch.Generator) -> torch.nn.Linear:
    """Of the same size, with random weights of the same scale, quantised or not."""
    weight = linear.weight() if callable(linear.weight) else linear.weight
    weight = (weight.dequantize() if hasattr(weight, "dequantize") else weight).detach().float()
    other = torch.nn.Linear(linear.in_features, linear.out_features, bias=False)
    noise = torch.randn(weight.shape, generator=generator) * weight.std()
    other.weight = torch.nn.Parameter(noise.to(weight.device), requires_grad=False)
    return other
