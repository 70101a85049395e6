"""What is wrong with a script's run is in its recording while the script still runs."""

from pathlib import Path

import kvstudio
from kvstudio.analysis.finding import stored_findings
from kvstudio.recording.reader import Recording
from tests.engine.scripts import demo_model, prefilled, steps, voice


def kinds(path: Path) -> list[tuple[str, int | None]]:
    with Recording.open(path) as recording:
        return [(finding.kind, finding.frame) for finding in stored_findings(recording)]


def test_findings_of_a_script_that_goes_past_the_capacity(tmp_path: Path) -> None:
    tts = demo_model()
    path = tmp_path / "run.kvrec"
    with kvstudio.record(tts, path):
        state = prefilled(tts, voice(tts), frames=2)
        for _ in steps(tts, state, 4):
            pass
        assert kinds(path) == [("dropped-write", 4)]
    assert kinds(path) == [("dropped-write", 4)]
    (found,) = kvstudio.check(path).findings
    assert (found.layer, found.count) == (0, 12)
