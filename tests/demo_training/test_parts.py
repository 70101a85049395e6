"""The parts of the training pipeline that decide whether a run comes out right."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pytest
import torch
from pocket_tts.models.flow_lm import FlowLMModel
from pocket_tts.modules.stateful_module import StatefulModule, increment_steps, init_states
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer
from torch import Tensor, nn

from kvstudio.paths import resources

Part = Callable[[str], ModuleType]
Array = npt.NDArray[np.float32]
Model = TypeVar("Model", bound=nn.Module)

FRAME = 1_920
MEL = 8 * 48  # numbers that describe a frame


class Batch(Protocol):
    tokens: Tensor
    latents: Tensor


def ready_to_stream(model: Model) -> Model:
    """The model, with modules that know their names."""
    for name, module in model.named_modules():
        if isinstance(module, StatefulModule):
            module._module_absolute_name = name
    return model.eval()


def noise(*shape: int) -> Array:
    return np.asarray(np.random.default_rng(0).normal(size=shape), np.float32)


def test_spectrum_of_a_frame_does_not_know_the_next(part: Part) -> None:
    log_mel = part("latents").log_mel
    audio = noise(4 * FRAME)
    changed = audio.copy()
    changed[2 * FRAME :] = 0
    assert np.array_equal(log_mel(audio)[:2], log_mel(changed)[:2])
    assert not np.array_equal(log_mel(audio)[2], log_mel(changed)[2])


def test_latents_have_variance_one_and_lead_back(part: Part) -> None:
    latents = part("latents")
    audio = noise(500 * FRAME) * np.repeat(np.abs(noise(500)), FRAME)
    space = latents.LatentSpace.fit([audio], MEL)
    found = space.latents_of(audio)
    assert found[:, :8].std(0) == pytest.approx(np.ones(8), abs=0.01)
    again = found @ space.to_log_mel + space.mean
    assert again == pytest.approx(latents.log_mel(audio), abs=1e-2)


def test_decoder_without_state_is_the_streaming_one(part: Part) -> None:
    mimi = ready_to_stream(part("models").new_codec(0))
    latents = torch.from_numpy(noise(1, 5, part("models").latent_size()))
    state = init_states(mimi, 1, 100)
    frames = []
    with torch.no_grad():
        for frame in latents[0, :, None, None]:
            frames.append(mimi.decode_from_latent(frame, state)[0])
            increment_steps(mimi, state, 16)
        whole = part("codec").decode(mimi, latents)
    assert torch.cat(frames, -1).numpy() == pytest.approx(whole.numpy(), abs=1e-6)


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


class Draws(np.random.Generator):
    """Chance, of which the kind of a batch is known."""

    def __init__(self, kind: float) -> None:
        super().__init__(np.random.PCG64(0))
        self._kind: float | None = kind

    def random(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
        kind, self._kind = self._kind, None
        return super().random(*args, **kwargs) if kind is None else kind  # type: ignore[call-overload]


class Guess(nn.Module):
    """Something small to train."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4))


class GuessTask:
    name = "guess"
    seed = 3

    def __init__(self) -> None:
        self.learning = Guess()
        self.optimisers = [torch.optim.AdamW(self.learning.parameters(), lr=0.1)]

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        wanted = torch.randn(4) + float(chance.random()) + progress
        return {"guess": (self.learning.weight - wanted).square().sum()}

    def validate(self) -> dict[str, float]:
        return {}


class StoppedTask(GuessTask):
    """Somebody stops this one at half time."""

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        if progress >= 0.5:
            raise KeyboardInterrupt
        return super().losses(chance, progress)


def test_stopped_training_goes_on_as_if_nothing_had_been(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = part("loop")
    unbroken = loop.train(GuessTask(), 20, tmp_path)["weight"]
    (tmp_path / "guess.pt").unlink()
    monkeypatch.setattr(loop, "SAVE_EVERY", 0.0)
    with pytest.raises(KeyboardInterrupt):
        loop.train(StoppedTask(), 20, tmp_path)
    assert torch.equal(loop.train(GuessTask(), 20, tmp_path)["weight"], unbroken)


def test_finished_training_is_not_done_again(part: Part, tmp_path: Path) -> None:
    first = part("loop").train(GuessTask(), 5, tmp_path)["weight"]
    assert torch.equal(part("loop").train(StoppedTask(), 5, tmp_path)["weight"], first)


def test_nearest_is_the_same_speech_at_another_pace(part: Part) -> None:
    one, other = noise(2, 40, 48)
    slower = np.repeat(one, 2, axis=0)
    to_slower, to_other, to_itself = part("distances").distances(one, [slower, other[:30], one])
    assert to_slower == to_itself == 0
    assert to_other > 0.5


@pytest.mark.parametrize("hertz", [100, 150, 200])
def test_pitch_of_pulses(part: Part, hertz: int) -> None:
    pulses = np.zeros(24_000, np.float32)
    pulses[:: 24_000 // hertz] = 1
    assert part("distances").pitch(pulses) == hertz


def test_silence_has_no_pitch(part: Part) -> None:
    assert np.isnan(part("distances").pitch(np.zeros(24_000, np.float32)))


def test_tokenizer_is_the_shipped_one(part: Part, tmp_path: Path) -> None:
    part("tokenizer").make_tokenizer(tmp_path / "tokenizer.json")
    shipped = resources() / "demo" / "tokenizer.json"
    assert (tmp_path / "tokenizer.json").read_bytes() == shipped.read_bytes()


def test_both_tokenizers_give_the_same_tokens(part: Part, tmp_path: Path) -> None:
    tokens = part("tokenizer")
    tokens.make_tokenizer(tmp_path / "tokenizer.json")
    tokens.make_sentencepiece(tmp_path / "tokenizer.model")
    one = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    other = SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    assert other.vocab_size() == one.get_vocab_size() == tokens.TOKENS
    for text in (
        "Hello world. I am a tiny voice.",
        " It's: 'Q' - \"z\"; x, y!?",
        "...!?",
        "\u00e9",
    ):
        assert other.encode(text) == one.encode(text).ids
        assert other.decode(other.encode(text)).strip("\u2047 ") == (
            one.decode(one.encode(text).ids).replace("<unk>", "")
        )


def test_head_learns_its_way_from_wherever_it_is(part: Part) -> None:
    """A head that always goes straight to the target has no loss, however many steps it takes."""
    training, batches = part("flow_lm_training"), part("flow_lm_batches")
    said = part("utterances").Utterance([3, 4], noise(5, 2), np.linspace(0, 1, 5))
    batch = batches.collate([batches.Example(noise(3, 2), [said])] * 40)
    targets = batch.targets[batch.speaking]
    step = training.Step.drawn(batch)
    whole = training.Step.whole(batch)
    assert (step.until > step.since).all()
    assert 0.6 < (step.until - step.since == 1).float().mean() < 0.95
    assert not whole.noise.any()
    assert (whole.until - whole.since == 1).all()
    for taken in (step, whole):

        def straight(way: Tensor, since: Tensor, until: Tensor, here: Tensor) -> Tensor:
            assert ((since >= 0) & (since < until) & (until <= 1)).all()
            return way

        right = targets - taken.noise
        assert taken.error(straight, right, targets).abs().max() == 0
        assert taken.error(straight, right + 1, targets).max() == pytest.approx(1)


def test_words_are_said_one_after_another(part: Part) -> None:
    spoken = part("utterances").tokens_of_frames(np.array([0.3, 1, 1, 1, 2.4]), 20)
    assert (spoken[0], spoken[-1]) == (0, 4)
    assert (np.diff(spoken) >= 0).all()
