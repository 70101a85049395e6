"""What the tests of the training package share."""

from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from pocket_tts.modules.stateful_module import StatefulModule
from torch import nn

Part = Callable[[str], ModuleType]  # the fixture `part`
Array = npt.NDArray[np.float32]
Model = TypeVar("Model", bound=nn.Module)

FRAME = 1_920


def ready_to_stream(model: Model) -> Model:
    """The model, with modules that know their names."""
    for name, module in model.named_modules():
        if isinstance(module, StatefulModule):
            module._module_absolute_name = name
    return model.eval()


def noise(*shape: int) -> Array:
    return np.asarray(np.random.default_rng(0).normal(size=shape), np.float32)
