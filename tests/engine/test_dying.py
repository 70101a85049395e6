"""An engine that dies at any moment leaves every frame that it had reported."""

import json
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from kvstudio.recording.reader import Recording
from tests.engine import driving
from tests.recording.reading import read_everything

KILLS = 50
ENDS = ["kill"] * KILLS + ["segfault", "exit"]


class Ending(NamedTuple):
    """How one engine ended, and the frames that it had reported by then."""

    path: Path
    reported: list[int]
    code: int


@pytest.fixture(scope="module")
def endings(tiny_config: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Ending]:
    """Of the engines that `ENDS` names."""
    folder = tmp_path_factory.mktemp("mortal")
    command = driving.script("mortal_engines.py", str(tiny_config), str(folder), *ENDS)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(ENDS)
    return [Ending(Path(row["path"]), row["reported"], row["code"]) for row in rows]


def test_fifty_kills(endings: list[Ending]) -> None:
    lengths = set()
    for ending in endings[:KILLS]:
        assert ending.code == -signal.SIGKILL
        assert ending.reported == list(range(len(ending.reported)))
        frames = check(ending)
        assert frames - len(ending.reported) in (0, 1), "at most one was written and not told"
        lengths.add(frames)
    assert len(lengths) > 5, "the moments differ"


@pytest.mark.parametrize(("how", "code"), [("segfault", -signal.SIGSEGV), ("exit", 3)])
def test_death_by_the_models_own_code(endings: list[Ending], how: str, code: int) -> None:
    ending = endings[ENDS.index(how)]
    assert ending.code == code
    # Voice, text and three decode steps; the fourth was being decoded.
    assert ending.reported == [0, 1, 2, 3, 4]
    assert check(ending) == 5


def check(ending: Ending) -> int:
    """The number of frames in a recording that was cut short; all of it must be readable."""
    with Recording.open(ending.path) as recording:
        assert recording.status == "interrupted"
        frames = len(recording.frames)
        assert frames >= len(ending.reported)
        assert {frame.id for frame in recording.frames} >= set(ending.reported)
        heard = [frame for frame, _, _ in recording.audio_frames()]
        decoded = [frame.id for frame in recording.frames if frame.phase == "decode"]
        assert heard == decoded, "each frame has its samples"
        recording.ops.refresh()
        for frame in recording.frames:
            assert len(recording.ops.of_frame(frame.id)) == frame.op_count
    assert read_everything(ending.path) == frames
    return frames
