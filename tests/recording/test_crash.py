"""A writer killed at any moment loses at most the frame in flight."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from kvstudio.recording.reader import Recording
from tests.fakes import FRAME_SAMPLES
from tests.recording.reading import read_everything

ROOT = Path(__file__).parents[2]
KILLS = 50
RUNS_AT_ONCE = 5
# A frame is announced as soon as `add_frame` has returned, so those announced are committed.
WRITER = """
import pathlib, sys
from tests.fakes import FakeRun
run = FakeRun(pathlib.Path(sys.argv[1]), ops_per_frame=100, room=100_000)
run.begin_chunk(), run.prefill()
while True:
    print(run.frame, flush=True)
    run.decode()
"""


def test_a_writer_killed_at_any_moment_loses_at_most_the_frame_in_flight(tmp_path: Path) -> None:
    random.seed(50)
    for number in range(0, KILLS, RUNS_AT_ONCE):
        paths = [tmp_path / f"{number + each}.kvrec" for each in range(RUNS_AT_ONCE)]
        # Python starts anew for each, so several at a time.
        children = [_start(path) for path in paths]
        for child, path in zip(children, paths, strict=True):
            announced = _kill_after(child, frames=random.randrange(2, 25))
            _check(path, announced)


def _start(path: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def _kill_after(child: "subprocess.Popen[str]", frames: int) -> int:
    """Kills the writer somewhere within a frame; the last frame that it said was in the file."""
    with child:
        assert child.stdout is not None
        announced = [int(child.stdout.readline()) for _ in range(frames)]
        for _ in range(random.randrange(20_000)):
            pass  # a moment of the frame that is being written now
        os.kill(child.pid, signal.SIGKILL)
        announced += [int(line) for line in child.stdout.read().splitlines()]
        return announced[-1]


def _check(path: Path, announced: int) -> None:
    with Recording.open(path) as recording:
        assert recording.status == "interrupted"
        frames = len(recording.frames)
        # The killed process may have committed one more frame than it could tell of.
        assert announced + 1 <= frames <= announced + 2
        assert [frame.id for frame in recording.frames] == list(range(frames))
        assert recording.slots(recording.caches[0], frames - 1).frames[10 + frames - 2] == (
            frames - 1
        )
        steps = frames - 2
        assert recording.audio().shape == (steps * FRAME_SAMPLES,)
        assert np.isfinite(recording.audio()).all()
        recording.ops.refresh()
        assert len(recording.ops.of_frame(frames - 1)) == recording.frames[-1].op_count
        recording.settle()
    if frames < 8:  # reading all of a long one takes long
        assert read_everything(path) == frames
    assert not path.with_name(path.name + "-wal").exists()
