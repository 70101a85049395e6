"""The measurements as a table in a README, between two marks."""

from collections.abc import Callable, Mapping
from pathlib import Path

from train.measuring import Figures
from train.plan import Plan

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

Wanted = Callable[[Figures], str]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def rows(plan: Plan) -> tuple[tuple[str, str, Wanted], ...]:
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
        ("seconds of one core per second of speech", "0.15", lambda f: f"{f.pace:.3f}"),
        ("bit-equal for a seed, at temperature 0.7", "100 %", lambda f: _percent(f.repeats)),
    )


def as_table(figures: Mapping[str, Figures], plan: Plan) -> str:
    heads = ["", *figures, "wanted"]
    lines = [heads, ["---"] * len(heads)]
    for name, wanted, write in rows(plan):
        lines.append([name, *(write(of_voice) for of_voice in figures.values()), wanted])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_table(readme: Path, figures: Mapping[str, Figures], plan: Plan) -> None:
    """Replace what stands between the marks, or add it at the end."""
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    before, found, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] if found else "\n"
    table = f"{BEGIN}\n{as_table(figures, plan)}\n{END}"
    readme.write_text(before + table + after, encoding="utf-8")
