"""Judges the ops of a step by the shadow memory: what they read, wrote, carried along and lost.

judged = judge(tracer, memory, frame)
judged.flags[i]     # NaN in, NaN out of call i
judged.touches[i]   # the slots of caches that it read or wrote
judged.misuses      # what no healthy run does
judged.attentions   # how attention looked at its cache
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kvstudio.engine import replaying
from kvstudio.engine.attending import Looked, look_at_attention
from kvstudio.engine.cells import Lying, beginning, masked_cells
from kvstudio.engine.geometry import Cells
from kvstudio.engine.misusing import Misuses
from kvstudio.engine.op_facts import describe
from kvstudio.engine.raw_calls import Kept, RawCall
from kvstudio.engine.shadow import NOBODY, CacheShadow, ShadowMemory
from kvstudio.engine.sums import FINITE, NAN, sum_flags, worst
from kvstudio.engine.tracer import OpTracer
from kvstudio.recording.evidence import Attention, Misuse
from kvstudio.recording.rows import Touch

# They look whether a number is one, or only at the shape, which does no harm.
HARMLESS = frozenset(
    "isnan isinf isfinite isneginf isposinf empty_like zeros_like ones_like full_like rand_like "
    "randn_like new_empty new_empty_strided new_zeros new_ones new_full "
    "eq ne lt le gt ge".split()
)
COPY_OP = torch.ops.aten.copy_.default
COPY = describe(COPY_OP)


@dataclass
class Judged:
    """What was made of the calls of one tracer: flags of each, touches and misuses by index."""

    calls: list[RawCall]
    flags: list[tuple[int, int]] = field(default_factory=list)
    touches: dict[int, list[Touch]] = field(default_factory=dict)
    misuses: list[Misuse] = field(default_factory=list)
    attentions: list[Attention] = field(default_factory=list)


def judge(tracer: OpTracer, memory: ShadowMemory | None, frame: int) -> Judged:
    """Follows the calls of a tracer in their order; the memory is as of after them then."""
    return _Judge(tracer, memory, frame).judged()


class _Judge:
    def __init__(self, tracer: OpTracer, memory: ShadowMemory | None, frame: int) -> None:
        self._calls = tracer.calls
        self._memory = memory if memory is not None else ShadowMemory({})
        self._frame = frame
        self._ropes = dict(tracer.ropes)
        totals = sum_flags([*tracer.sums, *tracer.met.values()])
        self._totals = totals
        met = zip(tracer.met, totals[len(tracer.sums) :], strict=True)
        # What holds NaN or Inf, by id of the Python object; later ops take over recycled ids.
        self._unsound = {identity: flag for identity, flag in met if flag}
        self._storages = {shadow.storage: shadow for shadow in self._memory.caches.values()}
        self._misuses = Misuses(frame)
        self._result = Judged(self._calls, misuses=self._misuses.found)

    def judged(self) -> Judged:
        for index, call in enumerate(self._calls):
            unsound = self._unsound
            coming_in = FINITE
            if unsound:
                coming_in = worst(unsound[each] for each in call.arguments[::3] if each in unsound)
            if call.kept is not None:
                coming_in = self._follow(index, call, call.kept)
            out = self._totals[call.total] if call.total >= 0 else FINITE
            if call.facts.view:
                out = coming_in  # as finite as what it looks at
            for identity in call.results[::3]:
                if out:
                    unsound[identity] = out
                else:
                    unsound.pop(identity, None)
            self._result.flags.append((coming_in, out))
        return self._result

    # ---- one call that has to do with a cache --------------------------------------------------

    def _follow(self, index: int, call: RawCall, kept: Kept) -> int:
        """Touches, copies, writes and uses of a call; whether NaN comes in, from a cache too."""
        if short_name(call) == "_foreach_copy_":
            single, pairs = call._replace(facts=COPY), zip(*kept.args[:2], strict=True)
            copies = [Kept(COPY_OP, pair, {}, None) for pair in pairs]
            return worst(self._follow(index, single, each) for each in copies)
        target = _target(call, kept)
        given = [(each, self._lying(each)) for each in tensors_in((kept.args, kept.kwargs))]
        # Of a tensor that grew a cache, or copies one, only some cells are NaN.
        coming_in = worst(self._unsound.get(id(each), FINITE) for each, lying in given if not lying)
        sources = [(each, lying) for each, lying in given if each is not target]
        nan = any(self._holds_nan(lying) for _, lying in sources)
        for _, lying in sources:
            self._touch(index, lying, write=False)
        if target is not None:
            self._write(index, call, kept, target, nan or coming_in == NAN)
        elif call.facts.carries:
            carried = self._carry(kept)
            if carried is not None and any(lying for _, lying in sources):
                # What of the cache it left out, as `where` may, does not come in.
                nan = self._holds_nan(Lying(*found) for found in carried)
        else:
            looked = self._attention(index, call, kept)
            if short_name(call) not in HARMLESS:
                for _, lying in given:
                    self._misuses.use(index, lying, looked)
        return NAN if nan else coming_in

    def _lying(self, tensor: Tensor) -> list[Lying]:
        """Where in the caches a tensor lies, or what of them it is a copy of."""
        storage = tensor.untyped_storage()
        shadow = self._storages.get(storage)
        if shadow is not None:
            cells = shadow.cells_of(tensor)
            ranges = shadow.ranges_of(tensor) if len(cells) else ()
            return [Lying(shadow, cells, shadow.writer[cells] == NOBODY, ranges)]
        labels = self._memory.copies.get(storage)
        if labels is None:
            return []
        own = labels.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        return [Lying(*found) for found in self._memory.cells_of_labels(own)]

    def _holds_nan(self, lying: Iterable[Lying]) -> bool:
        return any(bool(each.shadow.nan[each.cells].any()) for each in lying)

    def _touch(self, index: int, lying: Iterable[Lying], *, write: bool) -> None:
        for each in lying:
            for kv, first, last in each.ranges:
                touch = Touch(each.shadow.row.id, kv, first, last, write)
                self._result.touches.setdefault(index, []).append(touch)

    def _attention(self, index: int, call: RawCall, kept: Kept) -> Looked | None:
        looked = look_at_attention(call, kept, self._slots_of)
        if looked is not None:
            layer = looked.shadow.row
            part = "flow_lm" if layer.model == "flow_lm" else "mimi"
            rope = self._ropes.get(f"{part}.{layer.name}")
            self._result.attentions.append(looked.row(index, self._frame, rope))
        return looked

    def _slots_of(self, keys: Tensor) -> tuple[CacheShadow, Cells] | None:
        """The cache that keys or values `[B, H, T, D]` come from, and the slot of each of the T."""
        one = keys[0, 0, :, 0]
        shadow = self._storages.get(keys.untyped_storage())
        if shadow is not None:
            places = one.storage_offset() + np.arange(len(one)) * one.stride(0)
            return shadow, shadow.slots_of(places // shadow.geometry.dim)
        labels = self._memory.copies.get(keys.untyped_storage())
        if labels is None:
            return None
        own = labels.as_strided(one.shape, one.stride(), one.storage_offset())
        named = self._memory.cells_of_labels(own)
        if len(named) != 1:
            return None
        shadow, numbers = named[0][0], own.numpy().astype(np.int64)
        slots = shadow.slots_of(np.abs(numbers) - shadow.first_label)
        # New K may have been put behind the copies: it belongs in the slots that follow.
        known = np.flatnonzero(numbers)
        follow = np.searchsorted(known, np.arange(len(numbers)), "right") - 1
        before = known[np.maximum(follow, 0)]
        return shadow, np.where(numbers == 0, slots[before] + np.arange(len(slots)) - before, slots)

    # ---- copies, writes, uses ------------------------------------------------------------------

    def _labels(self, tensor: Tensor) -> Tensor | None:
        """The labels of a tensor's elements; None if it has nothing to do with a cache."""
        shadow = self._storages.get(tensor.untyped_storage())
        if shadow is not None:
            return self._memory.labels(shadow, tensor)
        labels = self._memory.copies.get(tensor.untyped_storage())
        if labels is None:
            return None
        return labels.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def _carry(self, kept: Kept) -> list[tuple[CacheShadow, Cells, NDArray[np.bool_]]] | None:
        """The result holds copies: the same op on labels tells of which cells; None: not known."""
        labels = replaying.carried(kept, self._labels)
        if labels is None or not isinstance(kept.result, Tensor):
            return None
        self._label(kept.result, labels)
        return self._memory.cells_of_labels(labels)

    def _label(self, tensor: Tensor, labels: Tensor | None) -> None:
        storage = tensor.untyped_storage()
        own = self._memory.copies.get(storage)
        if own is None:
            count = storage.nbytes() // max(1, tensor.element_size())
            own = self._memory.copies[storage] = torch.zeros(count, dtype=torch.int32)
        view = own.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        if labels is None:
            view.zero_()
        else:
            view.copy_(labels)

    def _write(self, index: int, call: RawCall, kept: Kept, target: Tensor, nan: bool) -> None:
        labels = replaying.written_labels(call, kept, target, self._labels)
        shadow = self._storages.get(target.untyped_storage())
        if replaying.uses_target(call):
            for each in tensors_in((kept.args, kept.kwargs)):
                self._misuses.use(index, self._lying(each), None)
        if shadow is None:
            self._label(target, labels)
        elif target.numel() == 0:
            if self._misuses.drop(index, self._calls, shadow, target):
                kv, slot = beginning(shadow, target)
                touch = Touch(shadow.row.id, kv, slot, slot, write=True)
                self._result.touches.setdefault(index, []).append(touch)
        else:
            mask = replaying.written_mask(call, kept, target)
            cells = shadow.cells_of(target) if mask is None else masked_cells(shadow, target, mask)
            self._misuses.overwrite(index, shadow, cells)
            self._touch(index, [Lying(shadow, cells, np.zeros(0, bool))], write=True)
            shadow.nan[cells] = nan
            self._sign(shadow, target, cells, labels)

    def _sign(
        self, shadow: CacheShadow, target: Tensor, cells: Cells, labels: Tensor | None
    ) -> None:
        """Writes into the shadow who wrote the cells: we, or who wrote what is copied there."""
        unwritten = np.zeros(0, np.int64)
        if labels is not None and bool((labels < 0).any()):
            unwritten = masked_cells(shadow, target, labels < 0)
        shadow.writer[cells] = self._frame
        shadow.writer[unwritten] = NOBODY


def tensors_in(tree: Any) -> Iterator[Tensor]:
    """Tensors among arguments, and in lists of them."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, Mapping):
        for each in tree.values():
            yield from tensors_in(each)
    elif isinstance(tree, (list, tuple)):
        for each in tree:
            yield from tensors_in(each)


def short_name(call: RawCall) -> str:
    """Such as `copy_` for `aten.copy_.default`."""
    return str(call.facts.name.split(".")[1])


def _target(call: RawCall, kept: Kept) -> Tensor | None:
    """The argument that the op writes into."""
    for position in call.facts.writes:
        given = position < len(kept.args)
        name = call.facts.names[position]
        target = kept.args[position] if given else kept.kwargs.get(name)
        if isinstance(target, Tensor):
            return target
    return None
