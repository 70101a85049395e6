"""Mimi's decoder without a state, for whole utterances and with gradients, and its loss.

The encoder needs nothing of the kind: `MimiModel.encode_to_latent` keeps no state.
"""

import functools

import torch
from pocket_tts.models.mimi import MimiModel
from pocket_tts.modules.conv import StreamingConv1d, StreamingConvTranspose1d
from pocket_tts.modules.seanet import SEANetResnetBlock
from torch import Tensor, nn

WINDOWS = (256, 512, 1_024)
LOUDNESS_FLOOR = 1e-3  # amplitude; lower values hear the faint lines in pauses


def decode(mimi: MimiModel, latents: Tensor) -> Tensor:
    """[B, frames, latents] to [B, samples], as streaming frame by frame would."""
    hidden = mimi.quantizer(latents.transpose(1, 2))
    hidden = _through(mimi.upsample.convtr, hidden)
    (hidden,) = mimi.decoder_transformer(hidden, None)
    for layer in mimi.decoder.model:
        hidden = _through(layer, hidden)
    audio: Tensor = hidden[:, 0]
    return audio


def _through(layer: nn.Module, hidden: Tensor) -> Tensor:
    out: Tensor
    if isinstance(layer, StreamingConvTranspose1d):
        # Streaming would keep what hangs over the end for the next call.
        out = layer.convtr(hidden)[..., : hidden.shape[-1] * layer.convtr.stride[0]]
    elif isinstance(layer, StreamingConv1d | SEANetResnetBlock):
        out = layer(hidden, None)
    else:
        out = layer(hidden)
    return out


def waveform_distance(heard: Tensor, wanted: Tensor) -> Tensor:
    """Mean absolute difference against the mean amplitude."""
    return (heard - wanted).abs().mean() / wanted.abs().mean()


def spectral_distance(heard: Tensor, wanted: Tensor) -> Tensor:
    """Differences of log and of plain amplitudes, averaged over three resolutions."""
    distances = [_distance_at(heard, wanted, window) for window in WINDOWS]
    return torch.stack(distances).mean()


def _distance_at(heard: Tensor, wanted: Tensor, window: int) -> Tensor:
    ours, theirs = _amplitudes(heard, window), _amplitudes(wanted, window)
    loudness = (torch.log(ours + LOUDNESS_FLOOR) - torch.log(theirs + LOUDNESS_FLOOR)).abs().mean()
    return loudness + (ours - theirs).abs().mean() / (theirs.mean() + 1e-4)


def _amplitudes(audio: Tensor, window: int) -> Tensor:
    spectrum = torch.stft(audio, window, window // 4, window=_hann(window), return_complex=True)
    power = spectrum.real.square() + spectrum.imag.square()
    amplitudes: Tensor = (power + 1e-7).sqrt() / (window * 0.375) ** 0.5
    return amplitudes


@functools.cache
def _hann(window: int) -> Tensor:
    return torch.hann_window(window)
