"""How an attention op looked at its cache: which slots it was given and which it attended to."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kvstudio.engine.geometry import Cells
from kvstudio.engine.raw_calls import Kept, RawCall
from kvstudio.engine.shadow import CacheShadow
from kvstudio.recording.evidence import Attention

MASKED_OUT = -1e30  # an additive mask takes away at least this much of what is not to be seen


@dataclass(frozen=True)
class Looked:
    """One attention op.

    Attributes:
        slots: the slot of each key.
        allowed: which query may attend to which key, `[queries, keys]`.
        paired: whether each key's value comes from the same slot of the same cache, `[keys]`.
    """

    shadow: CacheShadow
    slots: Cells
    allowed: NDArray[np.bool_]
    paired: NDArray[np.bool_]

    def masked(self, slots: Cells) -> bool:
        """Whether no query attends to any of these slots."""
        return not bool(self.allowed[:, np.isin(self.slots, slots)].any())

    def row(self, op: int, frame: int, rope: int | None) -> Attention:
        shadow = self.shadow
        queries = shadow.offset + np.arange(len(self.allowed))[:, None]  # their positions
        keys = self._key_positions(int(queries.max()))
        future = self.allowed & (keys > queries)
        age = queries - keys
        context = shadow.row.context
        outside = self.allowed & (age >= context) if context is not None else np.zeros(1, bool)
        due = (age >= 0) & (keys >= shadow.pad) & (age < (context or np.inf)) & self.paired
        last = np.flatnonzero(self.allowed[-1])
        written = np.flatnonzero(shadow.writer[: shadow.geometry.cells // 2] == frame)
        return Attention(
            op=op,
            cache=shadow.row.id,
            queries=len(self.allowed),
            keys=len(self.slots),
            position=shadow.offset,
            slot=self._place(shadow.slots_of(written)),
            rope=rope,
            oldest=int(self.slots[last].min()) if len(last) else None,
            newest=int(self.slots[last].max()) if len(last) else None,
            attended=len(last),
            future=int(future.sum()),
            outside=int(outside.sum()),
            missing=self._expected() - int((self.allowed & due).sum()),
        )

    def _place(self, written: Cells) -> int | None:
        """The first slot that was written; of a ring that has come round, the position it is."""
        shadow = self.shadow
        positions = shadow.offset + np.arange(len(self.allowed))
        round_it = shadow.row.context is not None and shadow.offset >= shadow.geometry.slots
        if round_it and set(positions % shadow.geometry.slots) == set(written.tolist()):
            return shadow.offset
        return int(written.min()) if len(written) else None

    def _key_positions(self, newest: int) -> Cells:
        """Slots are positions, but in a ring that has come round: the newest that may be there."""
        shadow = self.shadow
        size = shadow.geometry.slots
        grown = len(self.slots) > size  # by this very step, which a ring does not
        if shadow.row.context is None or shadow.offset < size or grown:
            return self.slots
        positions: Cells = newest - (newest - self.slots) % size
        return positions

    def _expected(self) -> int:
        """How many pairs of query and key there should be, as far as there are slots for them."""
        shadow = self.shadow
        context, size = shadow.row.context, max(shadow.geometry.slots, len(self.slots))
        pairs = 0
        for query in range(shadow.offset, shadow.offset + len(self.allowed)):
            first = shadow.pad if context is None else max(shadow.pad, query - context + 1)
            last = query if context is not None else min(query, size - 1)
            pairs += max(0, last - first + 1)
        return pairs


def look_at_attention(
    call: RawCall,
    kept: Kept,
    slots_of: Callable[[Tensor], tuple[CacheShadow, Cells] | None],
) -> Looked | None:
    """What an attention op saw of a cache; None if it is another op, or its keys are no cache's."""
    if "scaled_dot_product" not in call.facts.name:
        return None
    named = dict(zip(call.facts.names, kept.args, strict=False), **kept.kwargs)
    query, keys, values = (named.get(name) for name in ("query", "key", "value"))
    if not (isinstance(query, Tensor) and isinstance(keys, Tensor) and isinstance(values, Tensor)):
        return None
    if not query.dim() == keys.dim() == values.dim() == 4:
        return None
    found, behind = slots_of(keys), slots_of(values)
    if found is None:
        return None
    shadow, slots = found
    paired = np.ones(len(slots), bool)
    if behind is not None and len(behind[1]) == len(slots):
        paired = (behind[1] == slots) & (behind[0] is shadow)
    mask = named.get("attn_mask", named.get("attn_bias"))
    allowed = _allowed(mask, query.shape[2], keys.shape[2], bool(named.get("is_causal")))
    return Looked(shadow, slots, allowed, paired)


def _allowed(mask: Tensor | None, queries: int, keys: int, causal: bool) -> NDArray[np.bool_]:
    """`[queries, keys]`: what any batch and head may attend to."""
    allowed = torch.ones(queries, keys, dtype=torch.bool)
    if mask is not None:
        seen = mask.detach().cpu()
        seen = seen if seen.dtype == torch.bool else seen > MASKED_OUT
        seen = seen.expand(*seen.shape[:-2], queries, keys).reshape(-1, queries, keys)
        allowed = seen.any(0)
    elif causal:
        allowed = allowed.tril()
    both: NDArray[np.bool_] = allowed.numpy()
    return both
