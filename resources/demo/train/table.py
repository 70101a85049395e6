"""The measurements as tables in a README, each between two marks."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from train.damage import Damage
from train.measuring import Figures
from train.plan import Plan

MOST_WORDS = 10  # of what the recogniser hears

Written = Callable[[Figures], str]


def figures_table(figures: Mapping[str, Figures], plan: Plan) -> str:
    """A row for each measure, a column for each voice."""
    lines = [["", *figures, "wanted"]]
    for name, wanted, written in _measures(plan):
        lines.append([name, *(written(of_voice) for of_voice in figures.values()), wanted])
    return _table(lines)


def damage_table(damages: Iterable[Damage]) -> str:
    """A row for each fault in each voice."""
    heads = ["what is broken", "voice", "seconds", "level", "heard", "distance", "sounds like"]
    lines = [[*heads, "jump"]]
    for damage in damages:
        lasts = f"{damage.seconds:.1f}"
        if damage.audible < damage.seconds:
            lasts = f"{lasts}, NaN from {damage.audible:.2f} on"
        sounds_like = damage.voice
        if not math.isnan(damage.pitch):
            sounds_like += f", {damage.pitch:.0f} Hz"
        lines.append(
            [
                damage.fault,
                damage.meant,
                lasts,
                "-" if damage.level is None else f"{damage.level:+.1f} dB",
                _shortened(damage.words),
                f"{damage.distance:.2f}",
                sounds_like,
                f"{damage.jump:.3f}",
            ]
        )
    return _table(lines)


def write_table(readme: Path, name: str, table: str) -> None:
    """Replace what stands between the marks of this name, or add it at the end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    before, found, rest = text.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    readme.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")


def _measures(plan: Plan) -> tuple[tuple[str, str, Written], ...]:
    """What is measured, what is wanted, and how it is written."""
    return (
        ("ended by EOS", "100 %", lambda f: _percent(f.ended)),
        (
            f"nearest of all {plan.test_sentences} sentences is the right one",
            "100 %",
            lambda f: _percent(f.nearest_of_all),
        ),
        (
            f"nearer than {plan.variants} sentences that differ in one word",
            "97 %",
            lambda f: _percent(f.nearest_of_variants),
        ),
        ("words the recogniser gets right", "", lambda f: _percent(f.words_right)),
        (
            "... and in the speech the model learned from",
            "at most 10 points more",
            lambda f: _percent(f.words_right_in_truth),
        ),
        ("right pitch and nearest to the right voice", "100 %", lambda f: _percent(f.right_voice)),
        (
            "pitch, against the prompt's",
            "the same",
            lambda f: f"{f.pitch:.1f} / {f.pitch_of_prompt:.1f} Hz",
        ),
        ("distance to the right sentence", "", lambda f: f"{f.distance:.3f}"),
        ("distance to the others", "", lambda f: f"{f.distance_to_others:.3f}"),
        ("length against the recording", "", lambda f: f"{f.length:.3f}"),
        (
            "2 to 10 sentences, chunk by chunk into one cache: all ended by EOS",
            "",
            lambda f: _percent(f.ended_in_place),
        ),
        (
            "... and their distance to the right sentences",
            "",
            lambda f: f"{f.distance_in_place:.3f}",
        ),
        ("seconds of one core per second of speech", "0.15", lambda f: f"{f.pace:.3f}"),
        ("bit-equal for a seed, at temperature 0.7", "100 %", lambda f: _percent(f.repeats)),
    )


def _table(lines: Sequence[Sequence[str]]) -> str:
    ruled = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def _shortened(words: str) -> str:
    shown = words.split()
    return " ".join(shown if len(shown) <= MOST_WORDS else [*shown[:MOST_WORDS], "..."]) or "-"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
