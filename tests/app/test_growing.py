"""Growing arrays: what was put in comes out."""

import numpy as np

from kvstudio.app.growing import FIRST_ROOM, Growing


def test_it_holds_what_was_appended_beyond_its_first_room() -> None:
    growing: Growing[np.int64] = Growing(np.int64)
    for start in range(0, 4 * FIRST_ROOM, 100):
        growing.append(np.arange(start, start + 100))
    assert growing.now.tolist() == list(range(len(growing)))
    assert len(growing) > 4 * FIRST_ROOM - 100


def test_put_replaces_all_from_a_place_on() -> None:
    growing: Growing[np.uint8] = Growing(np.uint8, 2)
    growing.append([[1, 1], [2, 2], [3, 3]])
    growing.put(1, [[9, 9]])
    assert growing.now.tolist() == [[1, 1], [9, 9]]
    growing.put(2, np.full((3 * FIRST_ROOM, 2), 7))
    assert growing.now[:3].tolist() == [[1, 1], [9, 9], [7, 7]]
    assert len(growing) == 3 * FIRST_ROOM + 2
