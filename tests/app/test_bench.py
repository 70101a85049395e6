"""What the window's bench measures, and the recording that it measures with."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kvstudio.app.bench_recording import write_bench_recording
from kvstudio.recording.reader import Recording


def test_the_recording_has_the_size_that_it_claims(tmp_path: Path) -> None:
    path = tmp_path / "bench.kvrec"
    write_bench_recording(path, frames=3)
    with Recording.open(path) as recording:
        flow = [cache for cache in recording.caches if cache.model == "flow_lm"]
        assert len(flow) == 24
        found = recording.slots(flow[0], 4)
        assert (found.capacity, found.offset, found.written.sum()) == (1000, 903, 903)
        assert np.isfinite(recording.values(flow[-1], 4)[:, :, :903]).all()
        recording.ops.refresh()
        assert len(recording.ops.of_frame(4)) == 1100
        assert len(recording.audio()) == 3 * 1920


@pytest.mark.slow
def test_the_bench_measures_the_real_window() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kvstudio.app.bench"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 4
    assert all(set(row) == {"name", "value", "unit", "budget", "ok"} for row in rows)
    assert all(row["value"] > 0 for row in rows)
    assert all(row["ok"] == (row["value"] <= row["budget"]) for row in rows)
