"""Numbers that grow at the end, frame by frame, without copying all of them each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

Kind = TypeVar("Kind", bound="np.generic[Any]")

FIRST_ROOM = 256


class Growing(Generic[Kind]):
    """An array `[N]` or `[N, width]` whose N grows."""

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._row = () if width is None else (width,)
        self._room: NDArray[Kind] = np.empty((FIRST_ROOM, *self._row), dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def now(self) -> NDArray[Kind]:
        """All numbers so far, not copied; may be another array after the next change."""
        return self._room[: self._length]

    def append(self, numbers: ArrayLike) -> None:
        self.put(self._length, numbers)

    def put(self, first: int, numbers: ArrayLike) -> None:
        """Replace everything from position `first` on."""
        added = np.asarray(numbers, self._room.dtype)
        length = first + len(added)
        if length > len(self._room):
            room = np.empty((max(length, 2 * len(self._room)), *self._row), self._room.dtype)
            room[:first] = self._room[:first]
            self._room = room
        self._room[first:length] = added
        self._length = length
