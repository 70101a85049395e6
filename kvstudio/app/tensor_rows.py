"""A row per tensor of the streaming state: what is shown of it, and what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from kvstudio.analysis.tensors import Mismatch, cache_of, mismatches
from kvstudio.app.row_model import Column
from kvstudio.app.theme import current_palette
from kvstudio.app.words import counted
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import CacheState, TensorState

CHANGED = "●"
WRONG = "⚠"


@dataclass(frozen=True)
class TensorRow:
    """One tensor; `cache` and `slots` if it is a KV cache."""

    tensor: TensorState
    number: int
    cache: int | None
    slots: CacheState | None
    wrong: tuple[Mismatch, ...]

    @property
    def name(self) -> str:
        return f"{self.tensor.entry}.{self.tensor.key}"

    @property
    def words(self) -> str:
        """What a filter looks at."""
        cells = [column.text(self) for column in COLUMNS]
        states = ["changed"] * self.tensor.changed + ["mismatch"] * bool(self.wrong)
        return " ".join([*cells, *states]).lower()

    def is_wrong(self, what: str) -> bool:
        return any(each.what == what for each in self.wrong)


def _mark_tip(row: TensorRow) -> str:
    sentences = [each.words for each in row.wrong]
    if row.tensor.changed:
        sentences.append("changed by this frame")
    return "\n".join(sentences)


def _marked(row: TensorRow, what: str, text: str) -> str:
    return f"{WRONG} {text}" if row.is_wrong(what) else text


def _what_tip(row: TensorRow, what: str, text: str) -> str:
    return "\n".join([each.words for each in row.wrong if each.what == what]) or text


def _what_color(row: TensorRow, what: str) -> str:
    return current_palette().warning if row.is_wrong(what) else ""


def _nan(row: TensorRow) -> str:
    count = row.tensor.nan_count
    if row.cache is not None:
        return counted(count, "slot")
    return counted(count, "element") if count else "0"


def _nan_tip(row: TensorRow) -> str:
    if row.slots is None or row.slots.offset is None:
        return _nan(row)
    unwritten = max(0, row.slots.capacity - row.slots.offset)
    return f"{_nan(row)} with NaN; {unwritten:,} lie at or past the offset, not written yet"


def _is_nan_odd(row: TensorRow) -> bool:
    """NaN where something was written; unwritten slots are NaN by design."""
    if row.cache is None:
        return row.tensor.nan_count > 0
    offset = row.slots.offset if row.slots is not None else None
    if row.slots is None or offset is None or "encoder_transformer" in row.tensor.entry:
        return False
    return row.tensor.nan_count > max(0, row.slots.capacity - offset)


def _nan_color(row: TensorRow) -> str:
    palette = current_palette()
    return palette.nan if _is_nan_odd(row) else palette.muted_text


def _offset(row: TensorRow) -> int | None:
    return None if row.slots is None else row.slots.offset


def _capacity(row: TensorRow) -> int | None:
    return None if row.slots is None else row.slots.capacity


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _order(number: int | None) -> int:
    return -1 if number is None else number


def _is_changed(row: TensorRow) -> bool:
    return row.tensor.changed


def _muted(row: TensorRow) -> str:
    return current_palette().muted_text


COLUMNS: tuple[Column[TensorRow], ...] = (
    Column(
        "", 3, lambda row: WRONG * bool(row.wrong) + CHANGED * row.tensor.changed,
        order=lambda row: (not row.wrong, not row.tensor.changed, row.number), tip=_mark_tip,
        color=lambda row: current_palette().warning if row.wrong else current_palette().accent,
        title_tip=f"{CHANGED} changed by this frame, {WRONG} disagrees with its layer",
    ),
    Column(
        "name", 24, lambda row: row.name, order=lambda row: row.number, bold=_is_changed,
        tip=lambda row: f"{row.name} of {row.tensor.model}",
    ),
    Column("shape", 15, lambda row: row.tensor.shape),
    Column(
        "dtype", 9, lambda row: _marked(row, "dtype", row.tensor.dtype),
        tip=lambda row: _what_tip(row, "dtype", row.tensor.dtype),
        color=lambda row: _what_color(row, "dtype"),
    ),
    Column(
        "device", 7, lambda row: _marked(row, "device", row.tensor.device),
        tip=lambda row: _what_tip(row, "device", row.tensor.device),
        color=lambda row: _what_color(row, "device"),
    ),
    Column(
        "offset", 6, lambda row: _number(_offset(row)), order=lambda row: _order(_offset(row)),
        right=True, bold=_is_changed, title_tip="Slots filled: the index of the next write",
    ),
    Column(
        "capacity", 8, lambda row: _number(_capacity(row)),
        order=lambda row: _order(_capacity(row)), right=True, title_tip="Slots allocated",
    ),
    Column(
        "NaN", 9, _nan, order=lambda row: row.tensor.nan_count, tip=_nan_tip, color=_nan_color,
        right=True, bold=_is_nan_odd,
        title_tip="Slots of a cache, elements of any other tensor, that are NaN",
    ),
    Column("value", 17, lambda row: row.tensor.value, bold=_is_changed),
    Column(
        "storage", 7, lambda row: str(row.tensor.storage), order=lambda row: row.tensor.storage,
        right=True, color=_muted, title_tip="Counts up when another tensor took its place",
    ),
    Column("model", 7, lambda row: row.tensor.model, color=_muted),
)  # fmt: skip
NAME = 1
"""The column of names."""


def tensor_rows(recording: Recording, frame: int) -> list[TensorRow]:
    tensors = recording.tensors(frame)
    states = recording.cache_states(frame)
    caches = cache_of(recording.caches)
    wrong: dict[tuple[str, str, str], list[Mismatch]] = {}
    for each in mismatches(recording.caches, tensors):
        wrong.setdefault((each.model, each.entry, each.key), []).append(each)
    rows = []
    for number, tensor in enumerate(tensors):
        key = (tensor.model, tensor.entry, tensor.key)
        cache = caches.get(key)
        rows.append(
            TensorRow(
                tensor=tensor,
                number=number,
                cache=None if cache is None else cache.id,
                slots=None if cache is None else states.get(cache.id),
                wrong=tuple(wrong.get(key, ())),
            )
        )
    return rows


def passes(text: str, words: Sequence[str]) -> bool:
    return all(
        word[1:] not in text if len(word) > 1 and word.startswith("-") else word in text
        for word in words
    )
