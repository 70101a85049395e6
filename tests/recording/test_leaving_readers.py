"""A program that ends while one of its threads is reading a recording."""

import subprocess
import sys
from pathlib import Path

from tests.fakes import FakeRun

READS_UNTIL_THE_END = """
import sys, threading, time
from kvstudio.recording.reader import Recording

def read():
    recording = Recording.open(sys.argv[1])
    while True:
        recording.refresh()
        recording.ops.count()

for _ in range(4):
    threading.Thread(target=read, daemon=True).start()
time.sleep(0.3)
"""
TIMES = 5


def test_the_end_takes_no_connection_away_from_a_reader(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.run()
    for _ in range(TIMES):
        done = subprocess.run(
            [sys.executable, "-c", READS_UNTIL_THE_END, run.path], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
