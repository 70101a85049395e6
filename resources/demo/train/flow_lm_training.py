"""The language model learns to say a text in a prompt's voice, latent after latent."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from pocket_tts.models.flow_lm import FlowLMModel
from pocket_tts.modules.transformer import StreamingTransformerLayer
from torch import Tensor, nn
from torch.nn import functional as F

from train.flow_lm_batches import AUDIO, PROMPT, TEXT, Batch, Examples, Lengths, collate
from train.latents import LatentSpace
from train.models import EOS_THRESHOLD

# Heads that are shown where to look, by layer; they must be the first ones.
GUIDED_HEADS = {2: 2, 3: 2, 4: 1}
GUIDANCE = 0.2  # weight of that lesson at the start, and a tenth of it from 0.6 of the way on
# The head learns to cancel noise up to this deviation, the root of pocket-tts' temperature.
HEAD_NOISE = 0.7
ONE_STEP_SHARE = 0.8  # of the latents are learned from noise in a single step, which is usual
SAMPLED_SHARE = 0.5  # of the steps in the second half hear the model's own latents
# Until what progress a batch may hold what.
LENGTHS = (
    (0.12, Lengths(longest=16, joined=10, chunked=False)),
    (0.3, Lengths(longest=24, joined=22, chunked=False)),
    (1.0, Lengths(longest=60, joined=22, chunked=True)),
)
VALIDATED = 24  # examples


@dataclass(frozen=True)
class Noise:
    """What is done to the latents that go in, so that the model learns to live with its errors.

    Attributes:
        scale: per component, [latents].
    """

    scale: Tensor

    @classmethod
    def of(cls, space: LatentSpace) -> "Noise":
        relative = (space.scale[0] / space.scale) ** 0.3
        return cls(torch.from_numpy(np.clip(0.25 * relative, 0, 0.6).astype(np.float32)))

    def on(self, batch: Batch) -> Batch:
        rows, slots = batch.kind.shape
        prompt = (batch.kind == PROMPT)[..., None]
        strength = torch.where(prompt, 0.7 * torch.rand(rows, 1, 1), 1.5 * torch.rand(rows, 1, 1))
        noisy = batch.latents + torch.randn_like(batch.latents) * self.scale * strength
        lost = (torch.rand(rows, slots, 1) < 0.12 * torch.rand(rows, 1, 1)) & ~prompt
        return replace(batch, latents=torch.where(lost, 0.7 * torch.randn_like(noisy), noisy))


@dataclass(frozen=True)
class Step:
    """A step of the head on the straight way from noise to a latent, for all that is spoken.

    The head is that of the released models: it says where to go from one time on the way until
    another (Lagrangian self-distillation, https://arxiv.org/abs/2505.18825). Here a text has but
    one right latent, so the way is straight and the flow the same all along: a plain regression.
    From halfway, though, the head sees the right latent shine through and learns to trust it, so
    with noise and several steps some of the noise stays.

    Attributes:
        noise: where the way begins, [latents spoken, latents].
        since: share of the way that is behind, [latents spoken, 1].
        until: share where the step ends, [latents spoken, 1].
    """

    noise: Tensor
    since: Tensor
    until: Tensor

    @classmethod
    def whole(cls, batch: Batch) -> "Step":
        """From no noise at all to the end, as at temperature 0."""
        noise = torch.zeros_like(batch.targets[batch.speaking])
        since = torch.zeros_like(noise[:, :1])
        return cls(noise, since, since + 1)

    @classmethod
    def drawn(cls, batch: Batch) -> "Step":
        targets = batch.targets[batch.speaking]
        noise = torch.randn_like(targets) * HEAD_NOISE * torch.rand(len(targets), 1)
        since, length, kind = torch.rand(3, len(targets), 1)
        whole = kind < ONE_STEP_SHARE
        since = torch.where(whole, torch.zeros(()), since)
        return cls(noise, since, torch.where(whole, torch.ones(()), since + (1 - since) * length))

    def flow(self, head: nn.Module, hidden: Tensor, here: Tensor) -> Tensor:
        """Where the head would go from `here`."""
        way: Tensor = head(hidden, self.since, self.until, here)
        return way

    def error(self, head: nn.Module, hidden: Tensor, targets: Tensor) -> Tensor:
        """How far from the targets the head would come if it went on as it says to the end."""
        here = torch.lerp(self.noise, targets, self.since)
        return (1 - self.since) * (self.flow(head, hidden, here) - (targets - self.noise))


class FlowLMTask:
    """From prompt and text to latents."""

    name = "flow_lm"

    def __init__(
        self,
        flow_lm: FlowLMModel,
        learning: Examples,
        held_out: Examples,
        space: LatentSpace,
        seed: int,
    ) -> None:
        self.seed = seed
        self.learning = flow_lm
        self._examples = learning
        self._held_out = collate(held_out.fixed(VALIDATED))
        self._noise = Noise.of(space)
        self._to_log_mel = torch.from_numpy(space.to_log_mel)
        self._weight = torch.from_numpy(space.weight)
        matrices = [p for p in flow_lm.transformer.parameters() if p.ndim == 2]
        chosen = {id(p) for p in matrices}
        others = [p for p in flow_lm.parameters() if id(p) not in chosen]
        self.optimisers: list[torch.optim.Optimizer] = [
            torch.optim.Muon(
                matrices, lr=4e-3, momentum=0.95, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"
            ),
            torch.optim.AdamW(others, lr=3e-3, betas=(0.9, 0.98), weight_decay=0.0),
        ]

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        lengths = next(lengths for until, lengths in LENGTHS if progress < until)
        batch = self._noise.on(collate(self._examples.draw(chance, lengths)))
        if progress > 0.5 and chance.random() < SAMPLED_SHARE:
            batch = self._hearing_itself(batch)
        hidden, attention = run(self.learning, batch, guided=True)
        losses = self._losses(batch, hidden, Step.drawn(batch))
        losses["guide"] = GUIDANCE * max(0.1, 1 - 1.5 * progress) * attention
        return losses

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        batch = self._held_out
        hidden, _ = run(self.learning, batch)
        losses = self._losses(batch, hidden, Step.whole(batch))
        return {name: loss.item() for name, loss in losses.items()}

    def _losses(self, batch: Batch, hidden: Tensor, step: "Step") -> dict[str, Tensor]:
        speaking = batch.speaking
        error = step.error(self.learning.flow_net, hidden[speaking], batch.targets[speaking])
        audio = batch.kind == AUDIO
        eos = self.learning.out_eos(hidden[audio]).squeeze(-1)
        return {
            "mel": 2 * (error @ self._to_log_mel).abs().mean(),
            "latent": (error.square() * self._weight).mean(),
            "eos": 0.5 * F.binary_cross_entropy_with_logits(eos - EOS_THRESHOLD, batch.eos[audio]),
        }

    @torch.no_grad()
    def _hearing_itself(self, batch: Batch) -> Batch:
        """A random share of the latents that go in replaced by what the model would have said."""
        hidden, _ = run(self.learning, batch)
        said = torch.zeros_like(batch.latents)
        step = Step.whole(batch)
        head = self.learning.flow_net  # from zero, where it leads is the latent itself
        said[batch.speaking] = step.flow(head, hidden[batch.speaking], step.noise)
        heard = said.roll(1, dims=1)
        share = 1.2 * torch.rand(len(said), 1)
        own = (batch.kind == AUDIO) & ~batch.bos & (torch.rand(batch.kind.shape) < share)
        return replace(batch, latents=torch.where(own[..., None], heard, batch.latents))


def run(flow_lm: FlowLMModel, batch: Batch, guided: bool = False) -> tuple[Tensor, Tensor]:
    """All sequences at once, without a cache.

    Returns:
        What the heads see, [B, S, width], and how far the guided heads look astray.
    """
    hidden = embed(flow_lm, batch)
    mask = torch.ones(hidden.shape[1], hidden.shape[1], dtype=torch.bool).tril()
    astray = []
    for index, layer in enumerate(flow_lm.transformer.layers):
        if guided and index in GUIDED_HEADS:
            looks = attention(layer, hidden, GUIDED_HEADS[index], mask)  # [B, H, S, S]
            hits = (looks * batch.alignment[:, None]).sum(-1).transpose(1, 2)  # [B, S, H]
            aligned = batch.alignment.any(-1)
            astray.append(-(hits[aligned] + 1e-3).log().mean())
        hidden = layer(hidden, None, attn_mask=mask)
    return flow_lm.out_norm(hidden), torch.stack(astray).mean() if astray else torch.zeros(())


def embed(flow_lm: FlowLMModel, batch: Batch) -> Tensor:
    """What goes into the first layer, [B, S, width]."""
    voice = F.linear(batch.latents, flow_lm.speaker_proj_weight)
    voice = torch.cat([flow_lm.bos_before_voice.expand(len(voice), -1, -1), voice[:, 1:]], 1)
    latents = torch.where(batch.bos[..., None], flow_lm.bos_emb, batch.latents)
    kind = batch.kind[..., None]
    hidden = torch.where(kind == PROMPT, voice, torch.zeros(()))
    hidden = torch.where(kind == TEXT, flow_lm.conditioner(batch.tokens), hidden)
    return torch.where(kind == AUDIO, flow_lm.input_linear(latents), hidden)


def attention(layer: StreamingTransformerLayer, hidden: Tensor, heads: int, mask: Tensor) -> Tensor:
    """Where the first heads of a layer look, [B, H, S, S]; the layer itself does not tell."""
    module = layer.self_attn
    width, size = module.embed_dim, module.dim_per_head
    weight, normed = module.in_proj.weight, layer.norm1(hidden)
    shape = (*hidden.shape[:2], heads, size)
    queries = F.linear(normed, weight[: heads * size]).view(shape)
    keys = F.linear(normed, weight[width : width + heads * size]).view(shape)
    queries, keys = module.rope(queries, keys, offset=0)
    scores = torch.einsum("bqhd,bkhd->bhqk", queries, keys) * size**-0.5
    looks: Tensor = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return looks
