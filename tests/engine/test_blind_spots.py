"""What the tracer cannot see gives `not verified` with the reason, never `clean`."""
# ruff: noqa: ANN401 -- what the model is called with and returns is passed through

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

import kvstudio
from kvstudio.analysis.report import Report
from kvstudio.engine.session import Session
from kvstudio.engine.wrapping import wrapped
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine.running import observed, session_with

FEW = RunSpec(text="Yes.", eos_threshold=-1e9, frames_after_eos=2)


@pytest.fixture(scope="module")
def demo() -> Session:
    return session_with(ModelSource(), "low")


def in_another_thread(original: Any, *args: Any, **kwargs: Any) -> Any:
    """As a fork would that overlaps its layers: no dispatch mode follows it there."""
    results = []

    def work() -> None:
        with torch.no_grad():
            results.append(original(*args, **kwargs))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return results[0]


@contextmanager
def elsewhere(owner: Any, name: str) -> Iterator[None]:
    with wrapped(owner, name, in_another_thread):
        yield


def report_of(demo: Session, path: Path) -> Report:
    outcome, _ = observed(demo, FEW, path)
    assert outcome.status == "finished"
    return kvstudio.check(path)


def test_the_same_run_is_clean_when_all_of_it_is_seen(demo: Session, tmp_path: Path) -> None:
    assert report_of(demo, tmp_path / "run.kvrec").verdict == "clean"


def test_a_layer_that_attends_in_another_thread(demo: Session, tmp_path: Path) -> None:
    assert demo.tts is not None
    attention = demo.tts.flow_lm.transformer.layers[1].self_attn
    with elsewhere(attention, "forward"):
        report = report_of(demo, tmp_path / "run.kvrec")
    assert (report.verdict, report.findings) == ("not verified", ())
    assert report.reason.startswith(
        "it was not seen which slots layer 1 read in frame 1 (text prefill)"
    )


def test_a_codec_that_runs_in_another_thread(demo: Session, tmp_path: Path) -> None:
    assert demo.tts is not None
    with elsewhere(demo.tts.mimi.decoder_transformer, "forward"):
        report = report_of(demo, tmp_path / "run.kvrec")
    assert (report.verdict, report.findings) == ("not verified", ())
    assert "which slots Mimi decoder layers 0 and 1 read in frame 2" in report.reason
