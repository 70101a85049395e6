"""What no healthy run does to the slots of a cache, told as misuses."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from torch import Tensor

from kvstudio.engine.attending import Looked
from kvstudio.engine.cells import Lying, beginning, slot_ranges
from kvstudio.engine.geometry import BOTH, Cells
from kvstudio.engine.raw_calls import RawCall
from kvstudio.engine.shadow import BASE, LEFT_OVER, CacheShadow
from kvstudio.recording.evidence import Misuse, MisuseKind

LINE_REACH = 8  # ops of one source line that may lie between an expand and the write it is for


class Misuses:
    """Collects the misuses of one step.

    Args:
        frame: the step's frame.
    """

    def __init__(self, frame: int) -> None:
        self.found: list[Misuse] = []
        self._frame = frame

    def overwrite(self, index: int, shadow: CacheShadow, cells: Cells) -> None:
        """Cells of this run's history; in a cache that looks back only so far, those in sight."""
        writer = shadow.writer[cells]
        old = cells[(writer >= BASE) & (writer != self._frame)]
        if shadow.row.context is not None and shadow.offset >= shadow.geometry.slots:
            return  # a ring that has come round
        self._add(index, "overwrite", shadow, old, None)

    def drop(
        self, index: int, calls: Sequence[RawCall], shadow: CacheShadow, target: Tensor
    ) -> bool:
        """A write to a view without elements, of something that had some before it was expanded.

        The source of the write is empty by then too, so the expand before it tells.
        """
        call = calls[index]
        near = calls[max(0, index - LINE_REACH) : index]
        lost = any(
            each.code is call.code
            and each.line == call.line
            and each.facts.name.startswith("aten.expand")
            and 0 not in each.arguments[1]
            and 0 in each.results[1]
            for each in near
            if each.arguments and each.results
        )
        if lost:
            kv, slot = beginning(shadow, target)
            heads = shadow.geometry.heads
            self._note(
                Misuse(
                    index, shadow.row.id, "dropped-write", kv, slot, slot + 1, 0, heads, None, "nan"
                )
            )
        return lost

    def use(self, index: int, lying: Iterable[Lying], looked: Looked | None) -> None:
        """`looked`: what an attention op attended to."""
        for each in lying:
            shadow = each.shadow
            if self._is_sound(each):
                continue
            self._add(index, "unwritten-read", shadow, each.cells[each.unwritten], looked)
            written = each.cells[~each.unwritten]
            late = shadow.slots_of(written) >= shadow.end(self._frame)
            late |= shadow.writer[written] == LEFT_OVER
            self._add(index, "stale-read", shadow, written[late], looked)

    def _is_sound(self, lying: Lying) -> bool:
        """Whether all cells were written in this run: the usual case, told at little cost."""
        shadow = lying.shadow
        left_over = shadow.writer[lying.cells] == LEFT_OVER
        if lying.unwritten.any() or left_over.any():
            return False
        return max((last for _, _, last in lying.ranges), default=0) <= shadow.end(self._frame)

    def _add(
        self,
        index: int,
        kind: MisuseKind,
        shadow: CacheShadow,
        cells: Cells,
        looked: Looked | None,
    ) -> None:
        for kv, first, last in slot_ranges(shadow, cells):
            slots = shadow.slots_of(cells)
            own = cells[(slots >= first) & (slots < last)]
            own = own if kv == BOTH else own[shadow.halves_of(own) == kv]
            heads, writer = shadow.heads_of(own), int(shadow.writer[own].max())
            found = Misuse(
                op=index,
                cache=shadow.row.id,
                kind=kind,
                kv=kv,
                first=first,
                last=last,
                head_first=int(heads.min()),
                head_last=int(heads.max()) + 1,
                masked=None if looked is None else looked.masked(shadow.slots_of(own)),
                fill=shadow.fill_of(own),
                writer=None if writer < BASE else writer,
            )
            self._note(found)

    def _note(self, found: Misuse) -> None:
        """Adds it; what an op does to K and to V of the same slots is one misuse."""
        for index, known in enumerate(self.found):
            if replace(known, kv=found.kv) == found:
                self.found[index] = replace(found, kv=found.kv if known.kv == found.kv else BOTH)
                return
        self.found.append(found)
