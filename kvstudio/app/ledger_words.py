"""The length ledger and the checks of an expansion in words, and as columns of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kvstudio.analysis.integrity import CHECKS, Check, IntegrityRow
from kvstudio.analysis.ledger import LedgerRow
from kvstudio.app.row_model import Column
from kvstudio.app.theme import current_palette
from kvstudio.app.words import counted

PASSED = "✓"
FAILED = "✗"
BAR_CELLS = 6


def sum_words(row: LedgerRow) -> str:
    """Such as `19 + 32 + 159 = 210`."""
    chunk = row.chunk
    equals = "=" if row.total == chunk.required_len else "≠"
    return (
        f"{chunk.current_end} + {chunk.token_count} + {chunk.max_gen_len} "
        f"{equals} {chunk.required_len}"
    )


def capacity_words(row: LedgerRow) -> str:
    """Such as `19 → 210`, or `210, no growth needed`."""
    chunk = row.chunk
    if not row.begun:
        return f"{chunk.capacity_before:,} so far"
    if chunk.capacity_after == chunk.capacity_before:
        return f"{chunk.capacity_after:,}"
    return f"{chunk.capacity_before:,} → {chunk.capacity_after:,}"


def use_words(row: LedgerRow) -> str:
    """How far the chunk has come at the frame."""
    if row.used is None or row.left is None:
        return "begins later than this frame"
    if not row.expanded:
        grows = f", to be expanded to {row.chunk.required_len:,}"
        return f"{counted(row.used, 'slot')} used{grows * (row.capacity < row.chunk.required_len)}"
    left = f"{row.left:,} left" if row.left >= 0 else f"{-row.left:,} past the end"
    frames = f"{row.frames:,} of at most {counted(row.chunk.max_gen_len, 'frame')}"
    grown = "" if row.chunk.capacity_after != row.chunk.capacity_before else ", no growth needed"
    return (
        f"{row.used:,} of {counted(row.capacity, 'slot')} used, {left}; {frames} generated{grown}"
    )


def use_bar(row: LedgerRow) -> str:
    """A bar of blocks and a percentage."""
    if row.used is None or row.capacity <= 0:
        return ""
    share = row.used / row.capacity
    full = max(0, min(BAR_CELLS, round(share * BAR_CELLS)))
    return f"{'█' * full}{'░' * (BAR_CELLS - full)} {share:.0%}"


def _verdict(row: LedgerRow) -> str:
    if not row.begun:
        return "not expanded yet" if row.passed else f"{FAILED} {row.problems[0]}"
    return f"{PASSED} adds up" if row.passed else f"{FAILED} {row.problems[0]}"


def _verdict_color(row: LedgerRow) -> str:
    palette = current_palette()
    if not row.passed:
        return palette.error
    return palette.ok if row.begun else palette.muted_text


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _order(number: int | None) -> int:
    return -1 if number is None else number


LEDGER_COLUMNS: tuple[Column[LedgerRow], ...] = (
    Column("chunk", 6, lambda row: str(row.chunk.id), order=lambda row: row.chunk.id, right=True),
    Column(
        "sum", 18, sum_words, order=lambda row: row.total,
        title_tip="current_end + token_count + max_gen_len = required_len",
    ),
    Column("capacity", 9, capacity_words, order=lambda row: row.chunk.capacity_after),
    Column(
        "verdict", 10, _verdict, order=lambda row: row.passed, color=_verdict_color,
        tip=lambda row: "\n".join(row.problems) or _verdict(row),
    ),
    Column(
        "used", 5, lambda row: _count(row.used), order=lambda row: _order(row.used), right=True,
        title_tip="Slots in use at the frame under the cursor",
    ),
    Column(
        "left", 5, lambda row: _count(row.left), order=lambda row: _order(row.left), right=True
    ),
    Column("use", 15, use_bar, order=lambda row: _order(row.used)),
    Column(
        "frames", 9, lambda row: f"{row.frames:,} / {row.chunk.max_gen_len:,}",
        order=lambda row: row.frames, right=True, title_tip="Generated / at most",
    ),
    Column("tokens", 6, lambda row: f"{row.chunk.token_count:,}", right=True,
           order=lambda row: row.chunk.token_count),
    Column("text", 32, lambda row: row.chunk.text),
)  # fmt: skip


@dataclass(frozen=True)
class LayerChecks:
    """The three checks of one layer at the beginning of one chunk."""

    chunk: int
    cache: int
    label: str
    rows: tuple[IntegrityRow, ...]

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)

    def of(self, check: Check) -> IntegrityRow | None:
        return next((row for row in self.rows if row.check == check), None)


def layer_checks(rows: Sequence[IntegrityRow], labels: Mapping[int, str]) -> list[LayerChecks]:
    """One row per chunk and layer; those with a failure come first."""
    grouped: dict[tuple[int, int], list[IntegrityRow]] = {}
    for row in rows:
        grouped.setdefault((row.chunk, row.cache), []).append(row)
    found = [
        LayerChecks(chunk, cache, labels.get(cache, f"cache {cache}"), tuple(checks))
        for (chunk, cache), checks in grouped.items()
    ]
    return sorted(found, key=lambda each: (each.passed, each.chunk, each.cache))


def check_words(row: IntegrityRow | None) -> str:
    """Such as `✓ 19 to 210` or `✗ slot 7 changed`."""
    if row is None:
        return ""
    if row.passed or row.check == "shape grew":
        return f"{PASSED if row.passed else FAILED} {row.words}"
    which = f"slot {row.failed_slot}"
    says = row.words.removeprefix("slot")
    return f"{FAILED} {which}{says}" if says != row.words else f"{FAILED} {which}: {says}"


def _check_column(check: Check, title_tip: str) -> Column[LayerChecks]:
    def color(checks: LayerChecks) -> str:
        row = checks.of(check)
        return "" if row is None or row.passed else current_palette().error

    return Column(
        title=check,
        chars=CHECK_CHARS[check],
        text=lambda checks: check_words(checks.of(check)),
        order=lambda checks: check_words(checks.of(check)),
        color=color,
        bold=lambda checks: not all(row.passed for row in checks.rows if row.check == check),
        title_tip=title_tip,
    )


CHECK_CHARS: Mapping[Check, int] = {
    "shape grew": 9,
    "new slots NaN": 11,
    "old values kept": 8,
}
CHECK_TIPS: Mapping[Check, str] = {
    "shape grew": "The cache grew from the old capacity to the one required",
    "new slots NaN": "The new slots, and only the new slots, are NaN",
    "old values kept": "The old values are unchanged, bit for bit",
}
INTEGRITY_COLUMNS: tuple[Column[LayerChecks], ...] = (
    Column("chunk", 6, lambda each: str(each.chunk), order=lambda each: each.chunk, right=True),
    Column("layer", 4, lambda each: each.label, order=lambda each: each.cache),
    *(_check_column(check, CHECK_TIPS[check]) for check in CHECKS),
)
FIRST_CHECK = 2
"""The column of the first check."""
