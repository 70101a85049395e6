"""The one training loop: a schedule in steps, averaged weights, and checkpoints to go on from.

Every step seeds its own randomness, so a run that was stopped and started again does exactly what
an unbroken one would have done.
"""

import logging
import time
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from train.progress import Progress

log = logging.getLogger("train")

WARM_UP = 150  # steps
FLAT = 0.3  # share of the schedule at the full rate
LAST_RATE = 0.01
AVERAGE = 0.995
SAVE_EVERY = 120.0  # seconds


class Task(Protocol):
    """Something to train.

    Attributes:
        learning: what the optimisers change, and the checkpoints keep.
    """

    name: str
    seed: int
    learning: nn.Module
    optimisers: list[torch.optim.Optimizer]

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        """Parts of the loss on a fresh batch, already weighted; `progress` goes from 0 to 1."""
        ...

    def validate(self) -> dict[str, float]:
        """Figures for the log."""
        ...


def train(task: Task, steps: int, folder: Path) -> dict[str, Tensor]:
    """Train to the end, from the last checkpoint in `folder` if there is one.

    Returns:
        The averaged weights of `task.learning`.
    """
    run = _Run(task, folder / f"{task.name}.pt")
    progress = Progress(task.name, steps, run.done)
    saved = time.monotonic()
    for step in range(run.done, steps):
        figures = run.step(step, steps)
        progress.advance(**figures)
        if time.monotonic() - saved > SAVE_EVERY or step == steps - 1:
            run.save(step + 1)
            saved = time.monotonic()
    return run.average


def rate(step: int, steps: int) -> float:
    """Share of the full learning rate: warm-up, flat, then straight down."""
    warm = min(1.0, (step + 1) / min(WARM_UP, max(1, steps // 10)))
    falling = max(0.0, step / steps - FLAT) / (1 - FLAT)
    return warm * (1 - (1 - LAST_RATE) * falling)


class _Run:
    """The state of a training that a checkpoint keeps."""

    def __init__(self, task: Task, path: Path) -> None:
        self._task = task
        self._path = path
        self._rates = [
            [group["lr"] for group in optimiser.param_groups] for optimiser in task.optimisers
        ]
        self._smooth: dict[str, float] = {}
        self.average = {k: v.clone() for k, v in task.learning.state_dict().items()}
        self.done = 0
        if path.exists():
            self._load()

    def step(self, step: int, steps: int) -> dict[str, float]:
        task = self._task
        torch.manual_seed(task.seed * 1_000_003 + step)
        self._set_rate(rate(step, steps))
        losses = task.losses(np.random.default_rng((task.seed, step)), step / steps)
        for optimiser in task.optimisers:
            optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(torch.stack(list(losses.values())).sum())
        nn.utils.clip_grad_norm_(task.learning.parameters(), 1.0)
        for optimiser in task.optimisers:
            optimiser.step()
        self._follow(step)
        return self._smoothed(losses)

    def save(self, done: int) -> None:
        unfinished = self._path.with_suffix(".part")
        kept = {
            "done": done,
            "learning": self._task.learning.state_dict(),
            "average": self.average,
            "optimisers": [optimiser.state_dict() for optimiser in self._task.optimisers],
        }
        torch.save(kept, unfinished)
        unfinished.replace(self._path)
        figures = " ".join(f"{name} {value:.4g}" for name, value in self._task.validate().items())
        log.info("%s: kept at step %d; validation %s", self._task.name, done, figures)

    def _load(self) -> None:
        kept = torch.load(self._path)
        self.done = kept["done"]
        self._task.learning.load_state_dict(kept["learning"])
        self.average = kept["average"]
        for optimiser, state in zip(self._task.optimisers, kept["optimisers"], strict=True):
            optimiser.load_state_dict(state)

    def _set_rate(self, share: float) -> None:
        for optimiser, rates in zip(self._task.optimisers, self._rates, strict=True):
            for group, full in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = full * share

    @torch.no_grad()
    def _follow(self, step: int) -> None:
        keep = min(AVERAGE, 1 - 1 / (step / 4 + 1))  # young averages forget faster
        for name, value in self._task.learning.state_dict().items():
            self.average[name].lerp_(value, 1 - keep)

    def _smoothed(self, losses: dict[str, Tensor]) -> dict[str, float]:
        for name, loss in losses.items():
            before = self._smooth.get(name, loss.item())
            self._smooth[name] = before + 0.02 * (loss.item() - before)
        return self._smooth
