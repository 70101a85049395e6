"""What is left when a run is killed: nothing that could write into the next one."""

import os
import subprocess
import sys
from pathlib import Path

from kvstudio.paths import resources

RUN = """
import sys, time
from pathlib import Path
from train.workers import workers

with workers(1, Path(sys.argv[1])) as pool:
    pool.submit(print, "at work", flush=True).result()
    pool.submit(time.sleep, 600).result()
"""


def test_workers_end_with_a_run_that_is_killed(tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path / "train.log")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(resources() / "demo")},
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"at work\n"
    run.kill()
    run.communicate(timeout=60)  # returns when nobody is left who could write
