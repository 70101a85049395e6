"""Processes that work for the main one."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from threading import Thread

from train.logs import log_to


def workers(count: int, log: Path) -> ProcessPoolExecutor:
    """Processes that log where the main one does, and end when it does.

    One that went on after its run was killed would write into the checkpoints of the next run.
    """
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin, (log,))


def _begin(log: Path) -> None:
    log_to(log)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
