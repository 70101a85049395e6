"""Tells whether the K and V of a slot can have been made by their layer's own weights.

K, before it is rotated, and V are one linear projection of one input: together they lie in the
column space of the projection, which has fewer dimensions than K and V have numbers. A few random
vectors orthogonal to that space are enough to see whatever does not lie in it: a voice state of
another model, K and V in each other's place, a rotation by another position, rounded values,
numbers that somebody put there. Grouped-query layers may have no more K and V than inputs: then
anything is possible and nothing is told.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray

from kvstudio.engine import pocket
from kvstudio.recording.evidence import Found, Surprise
from kvstudio.recording.rows import Cache, Floats, SlotDelta

PROBES = 8
# Share of the length that may stick out: what is healthy is at 1e-6, bfloat16 at 1e-3.
TOLERANCE = 5e-3
FEW = 0.7  # share of distinct numbers; of computed ones, hardly two are equal
TRIAL_POSITION = 3


@dataclass(frozen=True)
class Projection:
    """What one layer's K and V must fulfil.

    Attributes:
        probes: unit vectors orthogonal to everything it can make, `[PROBES, 2 * H * D]`.
        period: of its rotary embedding.
    """

    probes: NDArray[np.float64]
    heads: int
    dim: int
    period: float

    def fits(
        self,
        keys: Floats,
        values: Floats,
        positions: NDArray[np.int64],
        tolerance: float = TOLERANCE,
    ) -> NDArray[np.bool_]:
        """Of keys and values `[S, H, D]`, rotated by `positions` `[S]`: which can be its own."""
        flat = np.concatenate(
            [
                self._unrotated(keys, positions).reshape(len(keys), -1),
                values.reshape(len(keys), -1),
            ],
            axis=1,
        )
        length = np.linalg.norm(flat, axis=1) + 1e-12
        # A random unit vector sees a 1 / sqrt(n) of what sticks out; the probes together this much.
        seen = np.linalg.norm(flat @ self.probes.T, axis=1) * np.sqrt(flat.shape[1] / PROBES)
        fitting: NDArray[np.bool_] = (seen <= tolerance * length) | ~np.isfinite(length)
        return fitting

    def what(self, keys: Floats, values: Floats, position: int) -> Found:
        """What K and V `[H, D]` of a slot that do not fit look like."""
        at = np.array([position])
        if self.fits(values[None], keys[None], at)[0]:
            return "swapped"
        many = np.arange(position + 64)
        several = np.broadcast_to(keys, (len(many), *keys.shape))
        if self.fits(several, np.broadcast_to(values, several.shape), many).any():
            return "rotated"
        if not keys.any() or not values.any():
            return "foreign"
        distinct = len(np.unique([keys, values]))
        return "rounded" if 2 < distinct < FEW * 2 * keys.size else "foreign"

    def _unrotated(self, keys: Floats, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Takes back the rotation of neighbouring pairs (RoPE, arXiv 2104.09864)."""
        pairs = keys.astype(np.float64).reshape(*keys.shape[:-1], -1, 2)
        rates = self.period ** (-np.arange(self.dim // 2) * 2 / self.dim)
        turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(
            -1j * positions[:, None, None] * rates
        )
        return np.stack([turned.real, turned.imag], axis=-1).reshape(keys.shape)


class Projections:
    """The projections of all FlowLM layers that allow to tell, by state key."""

    def __init__(self, tts: pocket.TTS) -> None:
        self._layers: dict[str, Projection] = {}
        for name, module in tts.flow_lm.named_modules():
            made = _projection(module)
            if made is not None:
                self._layers[name] = made

    def layer(self, name: str) -> Projection | None:
        """Of a state key; None if it cannot tell."""
        return self._layers.get(name)

    def surprises(self, deltas: Iterable[SlotDelta], caches: Mapping[str, Cache]) -> list[Surprise]:
        """Slots that a step wrote and that do not fit; the caches by state key."""
        names = {cache.id: name for name, cache in caches.items()}
        return [
            Surprise("flow_lm", names[delta.cache], "cache", what, first, last)
            for delta in deltas
            if delta.values is not None
            for what, (first, last) in self._written(names[delta.cache], delta.values, delta.first)
        ]

    def _written(
        self, name: str, content: Floats, first: int
    ) -> list[tuple[Found, tuple[int, int]]]:
        """The strangers among slots that a step wrote, in which every number has all its bits."""
        found = self.strangers(name, content, first)
        if not found and name in self._layers and is_narrow(content):
            return [("rounded", (first, first + content.shape[2]))]
        return found

    def strangers(
        self, name: str, content: Floats, first: int
    ) -> list[tuple[Found, tuple[int, int]]]:
        """Slots of `content` `[2, B, S, H, D]`, the first of which is `first`, that do not fit."""
        layer = self._layers.get(name)
        if layer is None:
            return []
        keys, values = content[0, 0], content[1, 0]
        wrong = np.flatnonzero(~layer.fits(keys, values, first + np.arange(len(keys))))
        found: list[tuple[Found, tuple[int, int]]] = []
        for slot in wrong.tolist():
            what = layer.what(keys[slot], values[slot], first + slot)
            here = first + slot
            if found and found[-1][0] == what and found[-1][1][1] == here:
                found[-1] = (what, (found[-1][1][0], here + 1))
            else:
                found.append((what, (here, here + 1)))
        return found


def is_narrow(content: Floats) -> bool:
    """Whether all numbers are those of a half-precision type, which computed ones never are."""
    finite = content[np.isfinite(content) & (content != 0)]
    with np.errstate(over="ignore"):
        half = finite.astype(np.float16).astype(np.float32) == finite
    brain = finite.view(np.uint32) & 0xFFFF == 0
    return bool(finite.size) and bool(half.all() or brain.all())


def projections_of(tts: pocket.TTS) -> Projections:
    """The projections of a model, worked out once for its weights as they are."""
    versions = tuple(
        parameter._version
        for name, parameter in tts.flow_lm.named_parameters()
        if name.endswith("in_proj.weight")
    )
    known = _KNOWN.get(tts)
    if known is None or known[0] != versions:
        known = _KNOWN[tts] = (versions, Projections(tts))
    return known[1]


_KNOWN: WeakKeyDictionary[Any, tuple[tuple[int, ...], Projections]] = WeakKeyDictionary()


def _projection(attention: Any) -> Projection | None:
    """Of an attention module; None if its K and V can be anything, or it is built otherwise."""
    project, rope = getattr(attention, "in_proj", None), getattr(attention, "rope", None)
    heads = getattr(attention, "num_kv_heads", None) or getattr(attention, "num_heads", None)
    backend = getattr(attention, "_cache_backend", None)
    period, dim = getattr(rope, "max_period", None), getattr(backend, "dim_per_head", None)
    inputs = getattr(attention, "embed_dim", None)
    if not (project and heads and period and dim and inputs) or 2 * heads * dim <= inputs + PROBES:
        return None
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        try:
            matrix = project(torch.eye(inputs))[:, -2 * heads * dim :].T  # [2 * H * D, d]
        except (RuntimeError, TypeError):
            return None  # half precision on the CPU, another device, another kind of projection
        noise = torch.from_numpy(np.random.default_rng(0).normal(size=(len(matrix), PROBES)))
        inside = matrix @ torch.linalg.lstsq(matrix, noise.to(matrix.dtype)).solution
    outside = (noise - inside).double().numpy()
    probes = (outside / np.linalg.norm(outside, axis=0)).T
    made = Projection(probes, heads, dim, float(period))
    return made if _holds(made, project, rope, inputs) else None


def _holds(made: Projection, project: Any, rope: Any, inputs: int) -> bool:
    """Whether what the layer computes is what we think that it computes, on a trial input."""
    size = made.heads * made.dim
    trial = torch.from_numpy(np.random.default_rng(1).normal(size=(1, 1, inputs))).float()
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        try:
            out = project(trial)[..., -2 * size :].view(1, 1, 2, made.heads, made.dim)
            _, keys = rope(out[:, :, 0], out[:, :, 0], offset=torch.tensor(TRIAL_POSITION))
        except (RuntimeError, TypeError, ValueError):
            return False
    fits = made.fits(keys[0].numpy(), out[0, :, 1].numpy(), np.array([TRIAL_POSITION]))
    return bool(fits.all())
