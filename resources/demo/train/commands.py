"""Makes KVStudio's demo model, or measures one."""

import argparse
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from train.export import export
from train.logs import log_to
from train.measuring import measure
from train.plan import FULL, SMOKE
from train.stages import Work, make_latents, record_texts, train_models
from train.table import as_table, write_table

log = logging.getLogger("train")


def main(arguments: Sequence[str]) -> int:
    """Make the model, or with `evaluate` as the first word, measure it."""
    if arguments and arguments[0] == "evaluate":
        return _evaluate(_options("evaluate", arguments[1:]))
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
    started = time.monotonic()
    figures = measure(options.out, work)
    log.info("measured in %.1f min:\n%s", _minutes(started), as_table(figures, work.plan))
    write_table(options.readme or options.out / "README.md", figures, work.plan)
    return 0


def _work(options: argparse.Namespace) -> Work:
    plan = replace(SMOKE if options.smoke else FULL, seed=options.seed, workers=options.workers)
    work = Work(options.work or options.out.with_name(options.out.name + ".work"), plan)
    log_to(work.log)
    log.info("plan: %s", plan)
    return work


def _timed(name: str, stage: Callable[[], None]) -> None:
    started = time.monotonic()
    stage()
    log.info("%s: %.1f min", name, _minutes(started))


def _minutes(started: float) -> float:
    return (time.monotonic() - started) / 60


def _options(command: str, arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="train" if command == "make" else "train evaluate",
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
    if command == "evaluate":
        parser.add_argument("--readme", type=Path, help="where the table goes (OUT/README.md)")
    return parser.parse_args(arguments)
