"""One op in words: the cells of its row, and all of it in sentences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from kvstudio.app.cache_words import touches_words
from kvstudio.app.words import counted
from kvstudio.recording.ops import NAN_WORDS, OpShare, part_word
from kvstudio.recording.rows import Frame, Op

NAN, INF = 1, 2
DEAREST = 6
Labels = Mapping[int, str]

ROLE_TIP = (
    "Part in the life of a NaN: a reader uses a slot that nobody wrote, a producer makes NaN from "
    "finite numbers, a carrier gives it on, a launderer hides it; normal says why it is none"
)


@dataclass(frozen=True)
class OpColumn:
    """A column of the table of ops; `chars` is its first width in digits."""

    title: str
    chars: int
    text: Callable[[Op, Labels], str]
    right: bool = False
    title_tip: str = ""


OP_COLUMNS = (
    OpColumn(
        "#", 6, lambda op, _: str(op.id), right=True,
        title_tip="Number of the op in this run",
    ),
    OpColumn("frame", 5, lambda op, _: str(op.frame), right=True),
    OpColumn("op", 17, lambda op, _: op.name),
    OpColumn("NaN", 9, lambda op, _: nan_words(op), title_tip="NaN or Inf taken → given"),
    OpColumn("role", 8, lambda op, _: "", title_tip=ROLE_TIP),  # the model knows more than the op
    OpColumn(
        "slots", 23, lambda op, labels: touches_words(op.touches, labels),
        title_tip="Cache slots read and written",
    ),
    OpColumn(
        "part", 7, lambda op, _: part_word(op.part),
        title_tip="Which part of the step ran it",
    ),
    OpColumn("arguments", 28, lambda op, _: op.arguments),
    OpColumn("result", 18, lambda op, _: op.results),
    OpColumn("module", 28, lambda op, _: op.module),
    OpColumn("source", 24, lambda op, _: f"{short_file(op.site[0])}:{op.site[1]}"),
    OpColumn("µs", 7, lambda op, _: micros(op.took_ns), right=True, title_tip="Time the op took"),
    OpColumn("thread", 20, lambda op, _: op.thread),
)  # fmt: skip
COLUMN = {column.title: number for number, column in enumerate(OP_COLUMNS)}


def nan_words(op: Op) -> str:
    """Such as `NaN→NaN`, `→NaN` for an op that made one; empty if all was finite."""
    taken, given = _flag_word(op.nan_in), _flag_word(op.nan_out)
    return f"{taken}→{given}" if taken or given else ""


def short_file(file: str) -> str:
    """The path without the package that all of the model's files are in."""
    return file.removeprefix("pocket_tts/")


def millis(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:,.2f} ms"


def micros(nanoseconds: int) -> str:
    return f"{nanoseconds / 1000:,.1f}"


def op_details(
    op: Op, frame: Frame | None, labels: Labels, role: str = ""
) -> list[tuple[str, str]]:
    """(heading, words) of everything that is known of an op; `role`: its part in a NaN's life."""
    step = "" if frame is None else f" ({frame.title})"
    return [
        ("op", f"{op.name}, number {op.id}, frame {op.frame}{step}, part {part_word(op.part)}"),
        ("slots", touches_words(op.touches, labels) or "touches no cache"),
        ("NaN", f"{nan_sentence(op)}; {role}" if role else nan_sentence(op)),
        ("arguments", op.arguments or "no tensor"),
        ("result", op.results or "no tensor"),
        ("module", op.module or "outside of any module"),
        ("source", f"{op.site[0]}:{op.site[1]} in {op.site[2]}"),
        ("time", f"{micros(op.took_ns)} µs, {_began(op.began_ns)}"),
        ("thread", op.thread),
    ]


def frame_details(frame: Frame, shares: Sequence[OpShare]) -> list[tuple[str, str]]:
    """(heading, words) of what the ops of a frame took, by part and by op."""
    whole = sum(share.took_ns for share in shares)
    calls = sum(share.count for share in shares)
    facts = [("frame", f"{frame.id}, {frame.title}: {counted(calls, 'op')} in {millis(whole)}")]
    for part in sorted({share.part for share in shares}):
        within = [share for share in shares if share.part == part]
        took, count = sum(s.took_ns for s in within), sum(s.count for s in within)
        facts.append((part_word(part), f"{counted(count, 'op')}, {millis(took)}"))
    dearest: dict[str, tuple[int, int]] = {}
    for share in shares:
        count, took = dearest.get(share.op, (0, 0))
        dearest[share.op] = (count + share.count, took + share.took_ns)
    ranked = sorted(dearest.items(), key=lambda each: -each[1][1])[:DEAREST]
    facts += [
        ("" if place else "most time", f"{millis(took)}  {name}, {count:,} ×")  # noqa: RUF001
        for place, (name, (count, took)) in enumerate(ranked)
    ]
    return facts


def details_html(details: list[tuple[str, str]], muted: str) -> str:
    rows = "".join(
        f'<tr><td style="color:{muted}; padding-right:10px">{escape(heading)}</td>'
        f"<td>{escape(words)}</td></tr>"
        for heading, words in details
    )
    return f'<table cellspacing="0" cellpadding="1">{rows}</table>'


def nan_sentence(op: Op) -> str:
    """What became of NaN and Inf in this op."""
    if op.nan_in is None or op.nan_out is None:
        return "not looked at"
    if op.nan_out == NAN:
        return "NaN taken and given on" if op.nan_in == NAN else "gives NaN, but took none"
    if op.nan_in == NAN:
        return "took NaN, gives none"
    if INF in (op.nan_in, op.nan_out):
        taken = "takes Inf" if op.nan_in == INF else "takes finite numbers"
        return f"{taken}, gives {'Inf' if op.nan_out == INF else 'finite numbers'}"
    return "none taken, none given"


def _began(nanoseconds: int) -> str:
    side = "into the run" if nanoseconds >= 0 else "before the run"
    return f"began {abs(nanoseconds) / 1e6:,.3f} ms {side}"


def _flag_word(flag: int | None) -> str:
    return NAN_WORDS.get(flag, "?")
