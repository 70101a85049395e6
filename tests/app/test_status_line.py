"""The status bar's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvstudio.app.status_line import run_words
from kvstudio.recording import protocol as p
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.fakes import FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from kvstudio.app.main_window import MainWindow


@pytest.mark.parametrize(
    ("spec", "ops", "words"),
    [
        (RunSpec(), 811, "demo, voice low · 811 ops and 42 ms a frame"),
        (RunSpec(voice="/a/anna.wav", trace="off"), 0, "demo, voice anna · 42 ms a frame"),
        (
            RunSpec(model=ModelSource("language", "english", quantize=True)),
            1,
            "english (int8), voice low · 1 op and 42 ms a frame",
        ),
    ],
)
def test_what_runs_and_what_a_frame_costs(
    tmp_path: Path, spec: RunSpec, ops: int, words: str
) -> None:
    FakeRun(tmp_path / "a.kvrec", spec=spec, ops_per_frame=ops).run(3)
    with Recording.open(tmp_path / "a.kvrec") as recording:
        assert run_words(recording) == words


def test_before_the_first_decode_step_there_is_no_cost(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "a.kvrec")
    run.begin_chunk()
    with Recording.open(run.path) as recording:
        assert run_words(recording) == "demo, voice low"
    run.writer.finish("stopped")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (p.Finished("finished", "ended by EOS"), "the run finished: ended by EOS"),
        (p.Finished("stopped", "stopped before frame 7"), "the run was stopped before frame 7"),
        (p.Finished("failed", "the disk is full"), "the run failed: the disk is full"),
        (p.Finished("finished"), "the run finished"),
    ],
)
def test_how_a_run_ended(window: MainWindow, event: p.Finished, words: str) -> None:
    window.status.take_event(event)
    window.status.show_state("ready", "ready")
    assert window.status.state.text() == words
    window.status.show_state("held", "held before frame 1")
    assert window.status.state.text() == "held before frame 1"


def test_the_engines_versions(window: MainWindow) -> None:
    assert window.status.versions.text() == "pocket-tts 4.0.1 · torch 2.13.0 · Python 3.11.7"
    assert "process 4711" in window.status.versions.toolTip()
