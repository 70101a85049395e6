"""The engine on every release of pocket-tts it claims to run on, each in its own environment."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kvstudio.recording.interpreter import engine_command
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.kept import RELEASES, Release

FRAME_SAMPLES = 1920


@pytest.mark.slow
@pytest.mark.parametrize("number", RELEASES)
def test_a_short_generation_is_recorded(
    number: str, release: Callable[[str], Release], tmp_path: Path
) -> None:
    found = release(number)
    spec = RunSpec(
        model=ModelSource("config", str(found.config)), voice=str(found.voice), text="Hi."
    )
    spec_file, out = tmp_path / "spec.json", tmp_path / "run.kvrec"
    spec_file.write_text(spec.to_json(), encoding="utf-8")
    command = engine_command(str(found.python))
    done = subprocess.run(
        [*command.argv, "run", "--spec", str(spec_file), "--out", str(out)],
        env=command.environment, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    command.cleanup()
    assert done.returncode == 0, done.stderr
    with Recording.open(out) as recording:
        assert recording.facts.versions["pocket_tts"] == number
        assert recording.status == "finished"
        assert [frame.phase for frame in recording.frames[:3]] == ["voice", "text", "decode"]
        last = recording.frames[-1].id
        decoded = len(list(recording.audio_frames()))
        assert recording.audio().size == decoded * FRAME_SAMPLES > 0
        for slots in recording.slot_maps(last):
            values = recording.values(slots.cache, last)
            written = slots.written
            assert np.isfinite(values[:, :, written]).all()
            if slots.cache.model == "flow_lm":
                assert int(written.sum()) == slots.offset == last + 1 + _prefilled(recording)
        recording.ops.refresh()
        assert len(recording.ops.matching("copy_ complete_kv")) > 0


def _prefilled(recording: Recording) -> int:
    """Slots of voice and text, less the two frames that wrote them."""
    chunk = recording.chunks[0]
    return chunk.current_end + chunk.token_count - 2
