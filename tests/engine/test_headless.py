"""One spec run to its end without a window: exit codes, progress in words, a whole recording."""

from dataclasses import replace
from pathlib import Path

import pytest

from kvstudio.engine.headless import BAD_INPUT, DONE, RUN_FAILED, run_spec
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import Edit, ModelSource, RunSpec
from tests.engine.test_bad_runs import limited_files

SPEC = RunSpec(text="Yes.", eos_threshold=-1000.0, trace="off")


def run(spec: RunSpec, folder: Path) -> int:
    (folder / "spec.json").write_text(spec.to_json(), encoding="utf-8")
    return run_spec(folder / "spec.json", folder / "run.kvrec")


def test_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SPEC, tmp_path) == DONE
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0] == "loading demo"
    assert lines[-1] == "ended by EOS"
    with Recording.open(tmp_path / "run.kvrec") as recording:
        assert recording.status == "finished"
        assert [line for line in lines if line.startswith("frame ")] == [
            f"frame {frame.id}" for frame in recording.frames
        ]
        assert recording.spec == SPEC


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (replace(SPEC, text=" "), "there is no text to speak"),
        (replace(SPEC, voice="nobody"), "no voice file or predefined voice 'nobody'"),
        (replace(SPEC, model=ModelSource("language", "klingon")), "no language 'klingon'"),
        (replace(SPEC, edits=(Edit("melt", 2),)), "unknown recipe 'melt'"),
    ],
)
def test_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spec: RunSpec, words: str
) -> None:
    assert run(spec, tmp_path) == BAD_INPUT
    assert words in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "run.kvrec").exists()


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b'{"tempo": 3}'])
def test_spec_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tmp_path / "spec.json").write_bytes(content)
    assert run_spec(tmp_path / "spec.json", tmp_path / "run.kvrec") == BAD_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_spec_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_spec(tmp_path / "lost.json", tmp_path / "run.kvrec") == BAD_INPUT
    assert "lost.json" in capsys.readouterr().err


def test_recording_that_exists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.kvrec").write_text("mine", encoding="utf-8")
    assert run(SPEC, tmp_path) == BAD_INPUT
    assert "a file of this name exists" in capsys.readouterr().err
    assert (tmp_path / "run.kvrec").read_text(encoding="utf-8") == "mine"


def test_run_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with limited_files(1200 * 1024):
        assert run(replace(SPEC, text="Hello world.", trace="full"), tmp_path) == RUN_FAILED
    assert "run.kvrec: " in capsys.readouterr().err.splitlines()[-1]
