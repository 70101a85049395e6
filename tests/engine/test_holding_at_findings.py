"""The engine as a real process: it tells what its checks find, and holds there if asked to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kvstudio.analysis.finding import stored_findings
from kvstudio.recording import protocol as p
from kvstudio.recording.reader import Recording
from kvstudio.recording.recipes import parse_edit
from kvstudio.recording.spec import RunSpec
from tests.engine import driving
from tests.engine.driving import EngineProcess

READS_TOO_FAR = RunSpec(
    text="Hi there.", frames_after_eos=0, edits=(parse_edit("off-by-one-read:layer=2@4"),)
)


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with driving.engine() as process:
        process.state("empty")
        yield process


def test_a_run_to_a_finding_holds_before_the_next_frame(
    engine: EngineProcess, tmp_path: Path
) -> None:
    path = tmp_path / "run.kvrec"
    engine.begin(READS_TOO_FAR, path)
    engine.send(p.Run(to_finding=True))
    found = engine.next(p.Found)
    assert (found.kind, found.frame) == ("unwritten-read", 4)
    assert "layer 2" in found.message.lower()
    held = engine.state("held")
    assert (held.next_frame, held.words) == (5, "held before frame 5: unwritten-read")
    with Recording.open(path) as recording:
        (stored,) = stored_findings(recording)
        assert (stored.kind, stored.message) == (found.kind, found.message)
        op = next(link.op for link in stored.chain if link.op is not None)
        recording.ops.refresh()
        assert recording.ops.get(op).frame == 4
    engine.send(p.Step())
    assert engine.state("held").words == "held before frame 6"
    engine.finish()
    assert [event.kind for event in engine.events if isinstance(event, p.Found)] == [found.kind]


def test_a_run_breaks_at_a_consequence_of_the_kind(engine: EngineProcess, tmp_path: Path) -> None:
    engine.send(p.Break(kinds=["audio-nan", "hole"]))
    assert engine.next(p.Breaking).kinds == ["audio-nan", "hole"]
    engine.begin(READS_TOO_FAR, tmp_path / "run.kvrec")
    engine.send(p.Run())
    assert engine.next(p.Found).kind == "unwritten-read"
    found = engine.next(p.Found)
    assert found.kind == "audio-nan"
    held = engine.state("held")
    assert held.next_frame == (found.frame or 0) + 1
    assert held.words.endswith(": audio-nan")
    engine.send(p.Break(), p.Run(held.next_frame))
    assert engine.next(p.Breaking).kinds == []
    assert engine.state("held").next_frame == held.next_frame + 1
    engine.finish()


def test_a_kind_that_there_is_not_is_refused(engine: EngineProcess) -> None:
    words = engine.refusal(p.Break(kinds=["hole", "weather"]))
    assert words == "no finding is of the kind weather"
