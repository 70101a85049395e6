"""Encoder and decoder learn the two directions between audio and the latents fixed beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from pocket_tts.models.mimi import MimiModel
from torch import Tensor, nn

from train.codec import decode, spectral_distance, waveform_distance
from train.latents import LatentSpace
from train.plan import DELAY, FRAME
from train.samples import Samples, as_audio

CROP = 12  # frames
BATCH = 8
HELD_OUT = 24  # recordings

Array = npt.NDArray[np.float32]


@dataclass
class Sounds:
    """Recordings in all voices, long enough to cut a crop from."""

    space: LatentSpace
    recordings: Sequence[Samples]

    def crop(self, chance: np.random.Generator, off_grid: float) -> Array:
        """CROP frames of one recording, a share `off_grid` of them from between two frames."""
        samples = self.recordings[int(chance.integers(len(self.recordings)))]
        spare = len(samples) - CROP * FRAME
        start = int(chance.integers(spare // FRAME + 1)) * FRAME
        if chance.random() < off_grid:
            start = min(start + int(chance.integers(FRAME)), spare)
        return as_audio(samples[start : start + CROP * FRAME])


class EncoderTask:
    """From audio to latents."""

    name = "encoder"

    def __init__(self, mimi: MimiModel, sounds: Sounds, held_out: Sounds, seed: int) -> None:
        self.seed = seed
        self._mimi, self._sounds, self._held_out = mimi, sounds, held_out
        self.learning: nn.Module = nn.ModuleDict(
            {
                "encoder": mimi.encoder,
                "encoder_transformer": mimi.encoder_transformer,
                "downsample": mimi.downsample,
            }
        )
        self.optimisers: list[torch.optim.Optimizer] = [_adamw(self.learning, 3e-3)]
        self._weight = torch.from_numpy(sounds.space.weight)

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        return {"latent": self._loss(self._sounds, chance)}

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        return {"latent": self._loss(self._held_out, np.random.default_rng(0)).item()}

    def _loss(self, sounds: Sounds, chance: np.random.Generator) -> Tensor:
        audio = [self._louder(sounds.crop(chance, 0.25), chance) for _ in range(BATCH)]
        wanted = torch.from_numpy(np.stack([sounds.space.latents_of(crop) for crop in audio]))
        latents = self._mimi.encode_to_latent(torch.from_numpy(np.stack(audio))[:, None])
        loss: Tensor = ((latents - wanted).square() * self._weight).mean()
        return loss

    @staticmethod
    def _louder(audio: Array, chance: np.random.Generator) -> Array:
        """Sometimes louder or softer, as a user's recording may be."""
        if chance.random() < 0.7:
            return audio
        return np.asarray(audio * np.exp(chance.uniform(-0.5, 0.3)), np.float32)


class DecoderTask:
    """From latents, not always exact ones, to audio."""

    name = "decoder"

    def __init__(self, mimi: MimiModel, sounds: Sounds, held_out: Sounds, seed: int) -> None:
        self.seed = seed
        self._mimi, self._sounds, self._held_out = mimi, sounds, held_out
        self.learning: nn.Module = nn.ModuleDict(
            {
                "quantizer": mimi.quantizer,
                "upsample": mimi.upsample,
                "decoder_transformer": mimi.decoder_transformer,
                "decoder": mimi.decoder,
            }
        )
        self.optimisers: list[torch.optim.Optimizer] = [_adamw(self.learning, 2e-3)]
        scale = sounds.space.scale
        self._noise = torch.from_numpy(np.clip(0.12 * np.sqrt(scale[0] / scale), 0, 0.25))

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        latents, wanted = self._batch(self._sounds, chance)
        noisy = latents + torch.randn_like(latents) * self._noise * torch.rand(BATCH, 1, 1)
        return self._losses(noisy, wanted)

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        losses = self._losses(*self._batch(self._held_out, np.random.default_rng(0)))
        return {name: loss.item() for name, loss in losses.items()}

    def _losses(self, latents: Tensor, wanted: Tensor) -> dict[str, Tensor]:
        # The first frame of a crop lacks what was before it.
        heard, wanted = decode(self._mimi, latents)[:, FRAME:], wanted[:, FRAME:]
        return {
            "wave": waveform_distance(heard, wanted),
            "spectrum": spectral_distance(heard, wanted),
        }

    @staticmethod
    def _batch(sounds: Sounds, chance: np.random.Generator) -> tuple[Tensor, Tensor]:
        audio = [sounds.crop(chance, 0.0) for _ in range(BATCH)]
        latents = np.stack([sounds.space.latents_of(crop) for crop in audio])
        delayed = np.pad(np.stack(audio), ((0, 0), (DELAY, 0)))[:, :-DELAY]
        return torch.from_numpy(latents), torch.from_numpy(delayed)


def _adamw(module: nn.Module, learning_rate: float) -> torch.optim.AdamW:
    return torch.optim.AdamW(
        module.parameters(), lr=learning_rate, betas=(0.9, 0.98), weight_decay=1e-3
    )
