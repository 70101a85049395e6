"""The language model as it is trained, against pocket-tts as it speaks."""

from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
import torch
from pocket_tts import TTSModel
from pocket_tts.models.flow_lm import FlowLMModel, lsd_decode
from pocket_tts.modules.stateful_module import increment_steps, init_states
from torch import Tensor, nn

from kvstudio.paths import resources
from tests.demo_training.parts import Part, noise, ready_to_stream


class Batch(Protocol):
    tokens: Tensor
    latents: Tensor


def test_language_model_without_cache_is_the_one_with(part: Part, tmp_path: Path) -> None:
    batches, training = part("flow_lm_batches"), part("flow_lm_training")
    part("tokenizer").make_tokenizer(tmp_path / "tokenizer.json")
    flow_lm = ready_to_stream(part("models").new_flow_lm(tmp_path / "tokenizer.json", 0))
    size = part("models").latent_size()
    said = part("utterances").Utterance([3, 4, 5], noise(6, size), np.linspace(0, 2, 6))
    chunks = [said, said.then(said), said]
    batch = batches.collate([batches.Example(noise(4, size), chunks[:n]) for n in (3, 1)])
    with torch.no_grad():
        plain, _ = training.run(flow_lm, batch)
        guided, _ = training.run(flow_lm, batch, guided=True)
        cached = with_cache(flow_lm, batch, batch.kind[0].unique_consecutive(return_counts=True)[1])
    assert torch.equal(plain, guided)
    audio = batch.kind[0] == batches.AUDIO
    assert cached.numpy() == pytest.approx(plain[0, audio].numpy(), abs=1e-5)


def with_cache(flow_lm: FlowLMModel, batch: Batch, lengths: Tensor) -> Tensor:
    """What the heads see in the first row's audio, in the calls pocket-tts makes in place.

    `lengths` are the slots of the prompt, and of each chunk's text and audio in turn.
    """
    state = init_states(flow_lm, 1, 200)
    prompt, *chunks = torch.split(batch.latents[:1], lengths.tolist(), 1)
    tokens = torch.split(batch.tokens[:1], lengths.tolist(), 1)
    nothing = prompt[:, :0]

    def prefill(prefix: Tensor) -> None:
        flow_lm.backbone(flow_lm.input_linear(nothing), prefix, nothing, state)
        increment_steps(flow_lm, state, prefix.shape[1])

    voice = prompt[:, 1:] @ flow_lm.speaker_proj_weight.T
    prefill(torch.cat([flow_lm.bos_before_voice, voice], 1))
    seen = []
    for text, audio in zip(tokens[1::2], chunks[1::2], strict=True):
        prefill(flow_lm.conditioner(text))
        latents = torch.cat([flow_lm.bos_emb[None, None], audio[:, 1:]], 1)
        heard = flow_lm.input_linear(latents)
        seen.append(flow_lm.backbone(heard, heard[:, :0], latents, state)[0])
        increment_steps(flow_lm, state, latents.shape[1])
    return torch.cat(seen)


def test_batch_says_what_is_to_come(part: Part) -> None:
    batches = part("flow_lm_batches")
    latents = np.arange(1, 7, dtype=np.float32)[:, None]
    said = part("utterances").Utterance([3, 4, 5], latents, np.linspace(0, 2, 6))
    batch = batches.collate([batches.Example(-latents[:2], [said])])
    prompt, text, audio = batches.PROMPT, batches.TEXT, batches.AUDIO
    assert batch.kind.tolist() == [[prompt] * 3 + [text] * 3 + [audio] * 8]
    assert batch.latents[0, :, 0].tolist() == [0, -1, -2, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 6]
    assert batch.targets[0, 6:13, 0].tolist() == [1, 2, 3, 4, 5, 6, 6]
    assert batch.eos[0].tolist() == [0] * 12 + [1, 1]
    assert batch.bos[0].nonzero().flatten().tolist() == [6]


@pytest.mark.parametrize("kind", [0.0, 0.3, 0.9])
def test_batches_are_full_but_not_overfull(part: Part, kind: float) -> None:
    batches, utterances = part("flow_lm_batches"), part("utterances")
    said = [
        utterances.Utterance([3] * n, noise(n, 2), np.linspace(0, n - 1, n)) for n in range(5, 50)
    ]
    examples = batches.Examples(utterances.Utterances(["a."] * len(said), [said]), 600)
    batch = batches.collate(examples.draw(Draws(kind), batches.Lengths(40, 20, chunked=True)))
    assert 300 < batch.kind.numel() <= 600
    assert (batch.kind == batches.PADDING).float().mean() < 0.2
    chunks = batch.bos.sum(1)
    assert (chunks == chunks[0]).all()
    assert (chunks[0] > 1) == (kind == 0.3)


def test_second_chunk_begins_where_the_first_is_over(part: Part) -> None:
    batches = part("flow_lm_batches")
    first = part("utterances").Utterance([3], noise(2, 1), np.zeros(2))
    second = part("utterances").Utterance([4, 5], noise(3, 1), np.array([0, 0, 1]))
    batch = batches.collate([batches.Example(noise(1, 1), [first, second])])
    prompt, text, audio = batches.PROMPT, batches.TEXT, batches.AUDIO
    layout = [(prompt, 2), (text, 1), (audio, 4), (text, 2), (audio, 5)]
    assert batch.kind[0].tolist() == [kind for kind, slots in layout for _ in range(slots)]
    assert batch.bos[0].nonzero().flatten().tolist() == [3, 9]
    assert batch.eos[0].nonzero().flatten().tolist() == [5, 6, 12, 13]
    assert batch.targets[0, 9:13, 0].tolist() == [*second.latents[:, 0], second.latents[-1, 0]]
    assert batch.alignment[0, 3:5].argmax(-1).tolist() == [2, 2]
    assert batch.alignment[0, 9:12].argmax(-1).tolist() == [7, 7, 8]
    assert not batch.alignment[0, 9:12, :7].any()


def test_pocket_tts_goes_on_after_eos_as_was_learned(part: Part, demo_config: Path) -> None:
    tts = TTSModel.load_model(config=demo_config)
    state = tts.get_state_for_audio_prompt(resources() / "demo" / "voices" / "low.wav")
    over: list[bool] = []

    def note(module: nn.Module, given: tuple[Tensor], told: Tensor) -> None:
        over.append(bool(told.max() > tts.eos_threshold))

    tts.flow_lm.out_eos.register_forward_hook(note)
    tts.generate_audio(state, "Hello world.", copy_state=False)
    assert len(over) - over.index(True) == part("flow_lm_batches").EOS_FRAMES


class Draws(np.random.Generator):
    """Chance, of which the kind of a batch is known."""

    def __init__(self, kind: float) -> None:
        super().__init__(np.random.PCG64(0))
        self._kind: float | None = kind

    def random(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
        kind, self._kind = self._kind, None
        return super().random(*args, **kwargs) if kind is None else kind  # type: ignore[call-overload]


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_head_that_makes_no_error_comes_to_the_target(part: Part, steps: int) -> None:
    training, batches = part("flow_lm_training"), part("flow_lm_batches")
    said = part("utterances").Utterance([3, 4], noise(5, 2), np.linspace(0, 1, 5))
    batch = batches.collate([batches.Example(noise(3, 2), [said])] * 40)
    targets = batch.targets[batch.speaking]

    def perfect(hidden: Tensor, since: Tensor, until: Tensor, here: Tensor) -> Tensor:
        assert ((since >= 0) & (since < until) & (until <= 1 + 1e-6)).all()
        return (hidden - here) / (1 - since)

    drawn, whole = training.Step.drawn(batch), training.Step.whole(batch)
    for step in (drawn, whole):
        assert step.error(perfect, targets, targets).abs().max() < 1e-5
        astray = step.error(perfect, targets + 1, targets)
        assert astray.numpy() == pytest.approx(np.ones_like(astray), abs=1e-4)
    assert not whole.noise.any()
    assert drawn.noise.any()
    assert 0.6 < (drawn.until - drawn.since == 1).float().mean() < 0.95
    found = lsd_decode(partial(perfect, targets), drawn.noise, steps)
    assert found.numpy() == pytest.approx(targets.numpy(), abs=1e-5)
