"""Makes KVStudio's demo model, or measures one."""

import argparse
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from train.claim import OtherPlan, claim
from train.damage import DamageTest
from train.export import export
from train.logs import log_to
from train.measuring import measure
from train.plan import FULL, SMOKE
from train.stages import Work, make_latents, record_texts, train_models
from train.table import damage_table, figures_table, write_table

log = logging.getLogger("train")

T = TypeVar("T")


def main(arguments: Sequence[str]) -> int:
    """Make the model, or measure one with `evaluate` or `damage` as the first word."""
    command, *others = arguments or [""]
    if command in MEASURES:
        return MEASURES[command](_options(command, others))
    return _make(_options("make", arguments))


def _make(options: argparse.Namespace) -> int:
    """All stages; what an earlier run finished is not done again."""
    work = _work(options)
    _timed("recordings", partial(record_texts, work))
    _timed("latents", partial(make_latents, work))
    _timed("training", partial(train_models, work))
    _timed("export", partial(export, work, options.out))
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    """Measure the model in `options.out` and put the table into its README."""
    work = _work(options)
    table = _timed("measuring", lambda: figures_table(measure(options.out, work), work.plan))
    return _written(options, "measured", table)


def _damage(options: argparse.Namespace) -> int:
    """Break the model in `options.out` and put into its README how that sounds."""
    work = _work(options)
    table = _timed("damage", lambda: damage_table(DamageTest(options.out, work).results()))
    return _written(options, "damage", table)


MEASURES = {"evaluate": _evaluate, "damage": _damage}


def _written(options: argparse.Namespace, name: str, table: str) -> int:
    log.info("%s:\n%s", name, table)
    write_table(options.readme or options.out / "README.md", name, table)
    return 0


def _work(options: argparse.Namespace) -> Work:
    plan = replace(SMOKE if options.smoke else FULL, seed=options.seed, workers=options.workers)
    work = Work(options.work or options.out.with_name(options.out.name + ".work"), plan)
    try:
        claim(work.folder, plan)
    except OtherPlan as other:
        raise SystemExit(str(other)) from None
    log_to(work.log)
    log.info("plan: %s", plan)
    return work


def _timed(name: str, stage: Callable[[], T]) -> T:
    started = time.monotonic()
    result = stage()
    log.info("%s: %.1f min", name, (time.monotonic() - started) / 60)
    return result


def _options(command: str, arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="train" if command == "make" else f"train {command}",
        description=__doc__,
        epilog=None
        if command == "evaluate"
        else "train evaluate --help tells of the other command.",
    )
    parser.add_argument("--out", type=Path, required=True, help="the model's folder")
    parser.add_argument("--work", type=Path, help="folder for all else, kept (OUT.work)")
    parser.add_argument("--smoke", action="store_true", help="everything, as small as can be")
    parser.add_argument("--seed", type=int, default=0, help="another seed, another model (0)")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time (2)")
    if command in MEASURES:
        parser.add_argument("--readme", type=Path, help="where the table goes (OUT/README.md)")
    return parser.parse_args(arguments)
