"""The whole way of a sound: from a recording, by a press on Play, to the loudspeaker."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np

from kvstudio.recording.reader import Recording
from tests.app.hearing import find
from tests.app.pulse import SoundServer, in_real_time, soundless_environment
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["tests.app.sound_fixtures"]

PATIENCE_S = 60
PERFORMER = [sys.executable, "-X", "faulthandler", "-m", "tests.app.panels.audio_performer"]


def perform(recording: Path, environment: dict[str, str]) -> str:
    """What the panel said at the end; in a process of its own, see `tests.app.pulse.perform`."""
    done = subprocess.run(
        [*PERFORMER, str(recording)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def spoken(folder: Path) -> Path:
    (folder / "run.kvrec").unlink(missing_ok=True)
    run = FakeRun(folder / "run.kvrec", layers=1)
    run.begin_chunk()
    run.prefill()
    for step in range(10):
        run.decode(nan=step == 5)
    run.writer.finish("finished")
    return run.path


@in_real_time
def test_a_recording_is_heard_as_it_is(own_server: SoundServer, tmp_path: Path) -> None:
    path = spoken(tmp_path)
    perform(path, own_server.environment)
    with Recording.open(path) as recording:
        samples = np.nan_to_num(recording.audio())  # what is no number is silence to the ear
    assert find(samples, own_server.heard())[1] > 0.99


def test_without_a_device_the_panel_says_so(tmp_path: Path) -> None:
    said = perform(spoken(tmp_path), soundless_environment(tmp_path))
    assert "frame 11" in said
    assert "No sound: no sound device was found" in said
