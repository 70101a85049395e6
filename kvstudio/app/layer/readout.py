"""One value of a layer in words, exact to the last bit, and what the layer holds as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kvstudio.app.cache_moment import frame_words, slot_state_words
from kvstudio.app.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvstudio.app.cache_moment import CacheMoment
    from kvstudio.app.layer.geometry import Columns
    from kvstudio.app.layer.values import Facts
    from kvstudio.recording.rows import Floats, Frame

DOT = " · "


def number_words(value: float) -> str:
    """The shortest digits that give the same float32 again; NaN and Inf as computed ones."""
    if np.isnan(value):
        return "NaN, computed"
    if np.isinf(value):
        return f"{'Inf' if value > 0 else '-Inf'}, computed"
    return str(np.float32(value))


def place_words(name: str, slot: int, columns: Columns, column: int) -> str:
    """Such as `K[slot 68, head 3, dim 17]`."""
    return f"{name}[slot {slot}, {columns.words(column)}]"


def cell_words(
    place: str,
    value: float,
    moment: CacheMoment,
    slot: int,
    frames: Sequence[Frame],
) -> str:
    """A value, the role of its slot and who wrote it."""
    state = slot_state_words(moment, slot, frames)
    if slot < moment.slots.capacity and not moment.slots.written[slot]:
        return f"{place} was never written{DOT}{state}"
    return f"{place} = {number_words(value)}{DOT}{state}"


def layer_lines(
    moment: CacheMoment, facts: Facts, frame: Frame, frames: Sequence[Frame]
) -> tuple[str, ...]:
    """Shape, moment, range and NaN of a layer; shorter forms follow the fullest."""
    cache, capacity = moment.cache, moment.slots.capacity
    shape = f"[2, {cache.batch}, {capacity}, {cache.heads}, {cache.dim}]"
    when = f"after {frame_words(frames[moment.frame])}"
    if moment.frame != frame.id:
        when += ", not stepped since"
    strange = _strange_words(facts)
    unwritten = capacity - facts.written
    rest = f"{counted(unwritten, 'slot')} unwritten" if unwritten else "every slot written"
    short_rest = f"{unwritten:,} unwritten"
    parts = [shape, when, _range_words(facts), strange, rest]
    drafts = (
        parts,
        [shape, *parts[2:]],
        [shape, parts[2], strange, short_rest],
        [shape, strange, short_rest],
        [shape, strange],
    )
    return tuple(DOT.join(draft) for draft in drafts)


def slot_text(name: str, values: Floats, slot: int, columns: Columns) -> str:
    """Every value of a slot for a spreadsheet: `values` `[2, T, B * H * D]`, K before V."""
    lines = [f"{name} slot {slot}\tK\tV"]
    lines += [
        f"{columns.words(column)}\t{k!s}\t{v!s}"  # a format would show digits of a float64
        for column, (k, v) in enumerate(zip(*values[:, slot], strict=True))
    ]
    return "\n".join(lines) + "\n"


def _range_words(facts: Facts) -> str:
    if facts.low is None or facts.high is None:
        return "no finite value"
    return f"min {facts.low:.4g}, max {facts.high:.4g}"


def _strange_words(facts: Facts) -> str:
    """NaN and Inf in slots that were written; those that nobody wrote do not count."""
    found = []
    if facts.nan_slots:
        found.append(f"NaN computed in {counted(facts.nan_slots, 'slot')}")
    if facts.inf_slots:
        found.append(f"Inf computed in {counted(facts.inf_slots, 'slot')}")
    return ", ".join(found) or f"no NaN in {counted(facts.written, 'written slot')}"
