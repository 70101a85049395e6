"""What a reader tells of a run: facts, frames, audio, and whether somebody still writes it."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kvstudio.recording.errors import DamagedRecording, NotARecording
from kvstudio.recording.ops import part_word
from kvstudio.recording.reader import Recording
from kvstudio.recording.rows import Cache, LogLine
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.fakes import FILE, FRAME_SAMPLES, SOURCE, VERSIONS, FakeRun
from tests.recording.reading import read_everything, tamper

ROOT = Path(__file__).parents[2]
GONE = 2**22 + 1  # a process id that Linux never gives out


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.kvrec"


@pytest.fixture
def whole(path: Path) -> Iterator[Recording]:
    FakeRun(path).run(4)
    with Recording.open(path) as recording:
        yield recording


def test_facts_of_a_run(path: Path) -> None:
    spec = RunSpec(model=ModelSource("language", "english"), text="Hé", seed=3)
    FakeRun(path, spec=spec).run(2)
    with Recording.open(path) as recording:
        assert recording.spec == spec
        facts = recording.facts
        assert facts.versions == VERSIONS
        assert (facts.sample_rate, facts.frame_rate) == (24000, 12.5)
        assert (facts.host, facts.pid) == (platform.node(), os.getpid())
        assert facts.model == {"name": "fake"}
        assert (recording.status, facts.reason, recording.live) == ("finished", "EOS", False)


def test_frames_of_a_run(whole: Recording) -> None:
    titles = [frame.title for frame in whole.frames]
    assert titles == ["voice prefill", "text prefill", *(f"decode step {n}" for n in range(4))]
    assert [frame.id for frame in whole.frames] == list(range(6))
    assert [frame.eos for frame in whole.frames] == [False] * 5 + [True]
    assert [frame.stop_logit for frame in whole.frames][:2] == [None, None]
    assert whole.frames[5].stop_logit == 2.0
    assert whole.chunks[0].tokens[0] == (0, "H")
    assert whole.caches[0].slot_floats == 2 * 1 * 2 * 8
    assert [each.cache for each in whole.expansions(0)] == [0, 1]
    assert whole.expansions(0) == whole.expansions()
    assert whole.cache_states(5)[0].offset == 5 + 6 + 4


def test_audio_and_latents_of_a_run(whole: Recording) -> None:
    assert whole.audio().shape == (4 * FRAME_SAMPLES,)
    firsts = [(frame, first) for frame, first, _ in whole.audio_frames(after=3)]
    assert firsts == [(4, 2 * FRAME_SAMPLES), (5, 3 * FRAME_SAMPLES)]
    assert whole.latent(1) is None
    latent = whole.latent(2)
    assert latent is not None
    assert latent.shape == (8,)


def test_a_run_without_audio_is_silent(path: Path) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    run.writer.finish("stopped")
    with Recording.open(path) as recording:
        assert recording.audio().shape == (0,)
        assert recording.spec == RunSpec()


def test_tensors_are_told_as_they_were_and_whether_they_changed(path: Path) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    run.prefill()
    run._tensors = lambda: []  # type: ignore[method-assign]  # a frame that changes nothing
    run.decode()
    run.writer.finish("finished")
    with Recording.open(path) as recording:
        first, later = recording.tensors(1), recording.tensors(2)
    assert [tensor.changed for tensor in first] == [True] * 4
    assert [tensor.changed for tensor in later] == [False] * 4
    assert [tensor.value for tensor in first] == [tensor.value for tensor in later]
    assert first[1].value == "11"


def test_log_and_sources(path: Path) -> None:
    run = FakeRun(path)
    lines = [LogLine(1.0, "stderr", "one"), LogLine(2.0, "stdout", "two")]
    run.writer.add_log(lines)
    run.run(1)
    with Recording.open(path) as recording:
        assert recording.logs() == lines
        assert recording.logs(after=1) == lines[1:]
        assert recording.source(FILE) == SOURCE
        assert recording.source("other.py") is None


# ---- following a run ---------------------------------------------------------------------------


def test_a_growing_run_is_followed(path: Path) -> None:
    run = FakeRun(path)
    with Recording.open(path) as recording:
        assert (recording.frames, recording.chunks) == ([], [])
        assert len(recording.caches) == 3
        run.begin_chunk()
        assert recording.refresh() == range(0, 1)
        run.prefill()
        run.decode()
        assert recording.refresh() == range(1, 3)
        assert recording.refresh() == range(3, 3)
        assert (recording.status, recording.live) == ("recording", True)
        assert recording.slots(recording.caches[0], 2).offset == 12
        assert not recording.settle()  # not while it is written
        run.decode()
        run.writer.finish("finished", "EOS")
        assert recording.refresh() == range(3, 4)
        assert recording.status == "finished"
        assert recording.settle()
        assert len(recording.frames) == 4
        assert [file.name for file in path.parent.iterdir()] == [path.name]
        assert recording.slots(recording.caches[0], 3).offset == 13


FOLLOWED = """
import pathlib, sys
from tests.fakes import FakeRun
run = FakeRun(pathlib.Path(sys.argv[1]), room=40)
run.begin_chunk(), run.prefill()
for line in sys.stdin:
    run.decode()
    print(run.frame, flush=True)
run.writer.finish("finished")
"""


def test_a_run_of_another_process_is_followed(path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", FOLLOWED, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("step\n")
        child.stdin.flush()
        assert child.stdout.readline() == "2\n"
        with Recording.open(path) as recording:
            assert len(recording.frames) == 3
            assert (recording.live, recording.facts.pid) == (True, child.pid)
            for _ in range(20):
                child.stdin.write("step\n")
                child.stdin.flush()
                frame = int(child.stdout.readline())
                assert recording.refresh() == range(frame, frame + 1)
                assert recording.slots(recording.caches[0], frame).frames[10 + frame - 1] == frame
            child.stdin.close()
            assert child.wait() == 0
            recording.refresh()
            assert (recording.status, recording.live) == ("finished", False)
    assert read_everything(path) == 23


def _as_if_written(path: Path, **facts: object) -> Recording:
    """The recording of a writer that has not closed it, with other facts."""
    FakeRun(path).run(2)
    for key, value in {"status": "recording", **facts}.items():
        tamper(path, "UPDATE meta SET value = ? WHERE key = ?", values=(json.dumps(value), key))
    return Recording.open(path)


@pytest.mark.parametrize(
    ("facts", "status", "live"),
    [
        pytest.param({"pid": GONE}, "interrupted", False, id="process-is-gone"),
        pytest.param({"pid": 0}, "interrupted", False, id="no-process"),
        pytest.param({"pid": -1}, "interrupted", False, id="every-process"),
        pytest.param({"pid": 2**70}, "recording", True, id="cannot-tell"),
        pytest.param({"pid": 1}, "recording", True, id="of-another-user"),
        pytest.param({"pid": GONE, "host": "elsewhere"}, "recording", True, id="other-machine"),
    ],
)
def test_whether_somebody_writes(
    path: Path, facts: dict[str, object], status: str, live: bool
) -> None:
    with _as_if_written(path, **facts) as recording:
        assert (recording.status, recording.live) == (status, live)


def test_a_process_that_may_not_be_asked_is_alive(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    with _as_if_written(path) as recording:
        monkeypatch.setattr(os, "kill", refuse)
        assert recording.live


def test_a_run_that_was_cut_short_is_settled_into_one_file(path: Path) -> None:
    script = FOLLOWED.replace("run.writer.finish", "import os; os._exit(0); run.writer.finish")
    subprocess.run(
        [sys.executable, "-c", script, path], input="1\n2\n", cwd=ROOT, check=True, text=True
    )
    assert len(list(path.parent.iterdir())) == 3
    with Recording.open(path) as recording:
        assert recording.status == "interrupted"
        recording.settle()
        assert [file.name for file in path.parent.iterdir()] == [path.name]
        assert len(recording.frames) == 4
        assert recording.status == "interrupted"
    assert read_everything(path) == 4


def test_a_recording_that_others_read_is_settled_by_the_last_of_them(path: Path) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    with Recording.open(path) as last:
        run.writer.finish("stopped")
        with Recording.open(path) as recording:
            assert not recording.settle()
            assert len(recording.frames) == 1
        last.refresh()
        assert len(list(path.parent.iterdir())) > 1
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_recording_that_others_write_is_not_settled(path: Path) -> None:
    run = FakeRun(path)
    with Recording.open(path) as recording:
        assert not recording.settle()
    run.begin_chunk()
    run.writer.finish("stopped")
    assert read_everything(path) == 1


def test_a_recording_that_vanishes_while_it_is_settled_is_said(path: Path) -> None:
    run = FakeRun(path)
    with Recording.open(path) as recording:
        run.run(1)
        recording.refresh()
        path.unlink()
        with pytest.raises(NotARecording, match="no such file"):
            recording.settle()
        with pytest.raises(DamagedRecording):
            recording.refresh()


def test_a_cache_of_the_rows(whole: Recording) -> None:
    assert whole.caches[2] == Cache(
        id=2,
        model="mimi",
        name="decoder_transformer.transformer.layers.0.self_attn",
        layer=0,
        batch=1,
        heads=2,
        dim=8,
        context=16,
        weight_dtype="float32",
        weight_device="cpu",
    )


def test_numbers_come_back_bit_for_bit(path: Path) -> None:
    run = FakeRun(path)
    run.begin_chunk()
    run.prefill()
    run.decode(nan=True)
    run.writer.finish("finished")
    with Recording.open(path) as recording:
        values = recording.values(recording.caches[1], 2)
        assert np.isnan(values[:, :, 11]).all()
        assert np.isfinite(values[:, :, :11]).all()
        assert np.isnan(recording.audio()).all()


@pytest.mark.parametrize(("part", "word"), [(0, "voice"), (3, "mimi"), (7, "7"), (-1, "-1")])
def test_parts_of_a_step_have_words(part: int, word: str) -> None:
    assert part_word(part) == word


def test_audio_does_not_run_ahead_of_the_frames(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "run.kvrec")
    run.begin_chunk()
    run.prefill()
    run.decode()
    with Recording.open(run.path) as recording:
        run.decode()
        assert [frame for frame, _, _ in recording.audio_frames()] == [2]
        recording.refresh()
        assert [frame for frame, _, _ in recording.audio_frames(after=2)] == [3]
