"""One tensor of the streaming state, and when there is something new to be said of it."""

import torch

from kvstudio.engine.contents import Content, content, nan_count, summary
from kvstudio.recording.rows import TensorState


class SeenTensor:
    """One tensor of the state as it was when last looked at."""

    def __init__(self) -> None:
        self._identity: object = None
        self.content: Content = ()
        self._storage: object = None
        self.generation = -1

    def look(self, tensor: torch.Tensor, nan: int | None, *, is_cache: bool) -> bool:
        """Whether anything about it differs from the last look."""
        storage = tensor.untyped_storage()
        if storage is not self._storage:
            self._storage = storage
            self.generation += 1
        identity = (tensor.shape, tensor.dtype, tensor.device, self.generation, nan)
        found = () if is_cache else content(tensor)
        differs = identity != self._identity or found != self.content
        self._identity, self.content = identity, found
        return differs

    def row(
        self, model: str, entry: str, key: str, tensor: torch.Tensor, nan: int | None
    ) -> TensorState:
        return TensorState(
            model=model,
            entry=entry,
            key=key,
            shape=str(list(tensor.shape)),
            dtype=str(tensor.dtype).removeprefix("torch."),
            device=str(tensor.device),
            nan_count=nan_count(tensor) if nan is None else nan,
            value="" if nan is not None else summary(tensor),
            storage=self.generation,
        )
