"""A run goes on where it was stopped, and only where it was."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.demo_training.parts import Part


class Guess(nn.Module):
    """Something small to train."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4))


class GuessTask:
    name = "guess"
    seed = 3

    def __init__(self) -> None:
        self.learning = Guess()
        self.optimisers = [torch.optim.AdamW(self.learning.parameters(), lr=0.1)]

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        wanted = torch.randn(4) + float(chance.random()) + progress
        return {"guess": (self.learning.weight - wanted).square().sum()}

    def validate(self) -> dict[str, float]:
        return {}


class StoppedTask(GuessTask):
    """Somebody stops this one at half time."""

    def losses(self, chance: np.random.Generator, progress: float) -> dict[str, Tensor]:
        if progress >= 0.5:
            raise KeyboardInterrupt
        return super().losses(chance, progress)


def test_stopped_training_goes_on_as_if_nothing_had_been(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = part("loop")
    unbroken = loop.train(GuessTask(), 20, tmp_path)["weight"]
    (tmp_path / "guess.pt").unlink()
    monkeypatch.setattr(loop, "SAVE_EVERY", 0.0)
    with pytest.raises(KeyboardInterrupt):
        loop.train(StoppedTask(), 20, tmp_path)
    assert torch.equal(loop.train(GuessTask(), 20, tmp_path)["weight"], unbroken)


def test_finished_training_is_not_done_again(part: Part, tmp_path: Path) -> None:
    first = part("loop").train(GuessTask(), 5, tmp_path)["weight"]
    assert torch.equal(part("loop").train(StoppedTask(), 5, tmp_path)["weight"], first)


def test_work_folder_belongs_to_one_plan(part: Part, tmp_path: Path) -> None:
    claiming, smoke = part("claim"), part("plan").SMOKE
    claiming.claim(tmp_path, smoke)
    claiming.claim(tmp_path, replace(smoke, workers=7))
    with pytest.raises(claiming.OtherPlan, match="by another plan: give another --work"):
        claiming.claim(tmp_path, replace(smoke, seed=1))
