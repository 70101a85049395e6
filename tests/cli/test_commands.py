"""What the commands say, where they say it, and the code they end with."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

import kvstudio
import kvstudio.cli.engine_run
from kvstudio.analysis.checker import CHECKS
from kvstudio.recording.interpreter import EngineCommand
from kvstudio.recording.reader import Recording
from tests.cli.conftest import Kvstudio
from tests.fakes import FRAME_SAMPLES, FakeRun
from tests.recording.reading import tamper


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    path = tmp_path / "clean.kvrec"
    FakeRun(path).run(3)
    return path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["recrod"], "there is neither a command nor a file called recrod; see kvstudio --help"),
        (["missing.kvrec"], "neither a command nor a file called missing.kvrec"),
        (["--demo", __file__], "give either --demo or a recording to open, not both"),
        (["check"], "give a recording, or say what to run, such as --demo"),
        (["check", __file__, "--demo"], "give either a recording or a run to make, not both"),
        (["check", __file__], "is not a KVStudio recording"),
        (["check", "missing.kvrec", "--json"], "missing.kvrec: there is no such file"),
        (["check", "--text", " "], "there is no text to speak"),
        (["record", "--demo"], "Missing option"),
        (["record", "--demo", "-o", "/no/where.kvrec"], "the folder /no does not exist"),
        (["record", "-o", "a.kvrec", "--seed", "x"], "--seed"),
        (["record", "-o", "a.kvrec", "--speed", "9"], "--speed"),
        (["record", "-o", "a.kvrec", "--trace", "loud"], "loud"),
        (["record", "-o", "a.kvrec", "--text", "refused"], "the voice is bad"),
        (["record", "-o", "a.kvrec", "--text", "unable"], "the engine could not start in"),
        (["check", "--text", "refused", "--json"], "the voice is bad"),
        (["--nonsense"], "--nonsense"),
    ],
    ids=" ".join,
)
def test_bad_usage_is_2_and_said_on_standard_error(
    command: Kvstudio,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    told = command(*arguments)
    assert (told.code, told.out) == (2, "")
    assert says in told.err
    assert "Traceback" not in told.err
    assert list(tmp_path.iterdir()) == []


def test_version_and_help(command: Kvstudio) -> None:
    assert command("--version") == (0, f"kvstudio {kvstudio.__version__}\n", "")
    told = command("--help")
    assert told.code == 0
    assert {"record", "check"} <= set(told.out.split())
    assert "open" not in told.out.split("Commands")[1].split()
    told = command("record", "-h")
    for option in ("--checkpoint", "--voice", "--in-place", "--edit", "--spec", "--wav"):
        assert option in told.out


# ---- record ------------------------------------------------------------------------------------


def test_record_writes_a_recording_and_nothing_to_standard_output(
    command: Kvstudio, tmp_path: Path
) -> None:
    out, wav = tmp_path / "a.kvrec", tmp_path / "a.wav"
    told = command("record", "--demo", "--text", "Hi.", "--seed", "3", "-o", out, "--wav", wav)
    assert (told.code, told.out) == (0, "")
    assert "chatter" in told.err
    assert told.err.endswith("checks, no findings\n")
    with Recording.open(out) as recording:
        assert (recording.spec.text, recording.spec.seed) == ("Hi.", 3)
        samples, rate = soundfile.read(wav, dtype="float32")
        np.testing.assert_array_equal(samples, recording.audio())
    assert (rate, len(samples)) == (24000, 3 * FRAME_SAMPLES)


def test_record_keeps_nan_in_the_wav(tmp_path: Path) -> None:
    from kvstudio.cli.record_command import write_wav

    run = FakeRun(tmp_path / "nan.kvrec")
    run.begin_chunk()
    run.prefill()
    run.decode(nan=True)
    run.writer.finish("finished")
    write_wav(run.path, tmp_path / "nan.wav")
    samples, _ = soundfile.read(tmp_path / "nan.wav")
    assert np.isnan(samples).all()


@pytest.mark.parametrize("option", ["-o", "--wav"])
def test_record_overwrites_nothing(command: Kvstudio, tmp_path: Path, option: str) -> None:
    (tmp_path / "mine").write_text("dear")
    names = {"-o": tmp_path / "a.kvrec", "--wav": tmp_path / "a.wav", option: tmp_path / "mine"}
    told = command("record", "--demo", *(part for pair in names.items() for part in pair))
    assert told.code == 2
    assert "mine: exists; choose another name" in told.err
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine").read_text() == "dear"


@pytest.mark.parametrize(
    ("text", "says"),
    [("failed", ""), ("killed", "the engine died (signal SIGKILL); ")],
)
def test_a_run_that_fails_is_3_and_its_frames_are_kept(
    command: Kvstudio, tmp_path: Path, text: str, says: str
) -> None:
    out = tmp_path / "a.kvrec"
    told = command("record", "--text", text, "-o", out, "--wav", tmp_path / "a.wav")
    assert (told.code, told.out) == (3, "")
    assert says in told.err
    with Recording.open(out) as recording:
        assert len(recording.frames) >= 2
    assert (tmp_path / "a.wav").exists()


def test_a_wav_that_cannot_be_written_is_said(command: Kvstudio, tmp_path: Path) -> None:
    told = command("record", "-o", tmp_path / "a.kvrec", "--wav", tmp_path / ("x" * 300))
    assert told.code == 2
    assert "cannot write" in told.err


def test_an_engine_that_is_no_program_is_said(
    command: Kvstudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned: list[bool] = []
    bad = EngineCommand([str(tmp_path)], dict(os.environ), lambda: cleaned.append(True))
    monkeypatch.setattr(kvstudio.cli.engine_run, "engine_command", lambda _: bad)
    told = command("record", "-o", tmp_path / "a.kvrec")
    assert told.code == 2
    assert f"cannot start {tmp_path}: Permission denied" in told.err
    assert cleaned == [True]


def test_an_interpreter_that_is_not_there_is_said(
    kvstudio_command: Kvstudio, tmp_path: Path
) -> None:
    told = kvstudio_command("record", "--python", "/no/python", "-o", tmp_path / "a.kvrec")
    assert told.code == 2
    assert "there is no Python at /no/python" in told.err


# ---- check -------------------------------------------------------------------------------------

CLEAN = {
    "verdict": "clean",
    "reason": f"5 frames, {len(CHECKS)} checks, no findings",
    "frames": 5,
    "findings": [],
}


def test_check_of_a_clean_recording(command: Kvstudio, clean: Path) -> None:
    told = command("check", clean, "--json")
    assert (told.code, json.loads(told.out), told.err) == (0, CLEAN, "")
    assert command("check", clean) == (0, f"clean: {CLEAN['reason']}\n", "")


def test_check_with_findings(command: Kvstudio, clean: Path) -> None:
    tamper(clean, "DELETE FROM slot_delta WHERE cache = 1")
    told = command("check", clean, "--json")
    assert (told.code, told.err) == (1, "")
    report = json.loads(told.out)
    assert (report["verdict"], report["findings"][0]["kind"]) == ("findings", "hole")
    told = command("check", clean)
    assert (told.code, told.err) == (1, "")
    lines = told.out.splitlines()
    assert lines[0] == "error: hole, seen 9 times over all frames, layers and slots; the first:"
    assert lines[1].startswith("  Layer 1: frame 1 (text prefill) moved the offset past slots 5 to")
    assert lines[-1] == "1 finding: hole"


def test_check_names_the_op_and_the_chain(command: Kvstudio, tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "a.kvrec", room=2)
    run.run(3)
    told = command("check", run.path)
    assert "  op aten.copy_.default at pocket_tts/modules/attention.py:28" in told.out
    assert "    -> capacity 13" in told.out


def test_check_of_what_was_not_seen(command: Kvstudio, clean: Path) -> None:
    tamper(clean, "UPDATE meta SET value = '\"stopped\"' WHERE key = 'status'")
    told = command("check", clean)
    assert told.code == 3
    assert told.out.startswith("not verified: the run was stopped before its end")


@pytest.mark.parametrize(
    ("text", "code", "verdict"),
    [
        ("Hi.", 0, "clean"),
        ("endless", 1, "findings"),
        ("failed", 3, "not verified"),
        ("killed", 3, "not verified"),
    ],
)
def test_check_makes_a_run_and_leaves_only_json_on_standard_output(
    command: Kvstudio, text: str, code: int, verdict: str
) -> None:
    told = command("check", "--demo", "--text", text, "--json")
    assert told.code == code
    assert json.loads(told.out)["verdict"] == verdict
    assert "chatter" in told.err


def test_check_in_python(clean: Path) -> None:
    report = kvstudio.check(clean)
    assert (report.verdict, report.findings) == ("clean", ())
    assert kvstudio.check(str(clean)) == report


def test_the_real_engine_records_what_check_finds_clean(
    kvstudio_command: Kvstudio, tmp_path: Path
) -> None:
    out, again = tmp_path / "a.kvrec", tmp_path / "b.kvrec"
    told = kvstudio_command("record", "--demo", "--text", "Hi.", "-o", out)
    assert (told.code, told.out) == (0, "")
    assert "frame 2" in told.err
    assert "clean: " in told.err
    told = kvstudio_command("check", out, "--json")
    assert (told.code, json.loads(told.out)["verdict"]) == (0, "clean")
    assert kvstudio_command("record", "--spec", out, "-o", again).code == 0
    with Recording.open(out) as first, Recording.open(again) as second:
        assert len(first.audio()) > 0
        np.testing.assert_array_equal(first.audio(), second.audio())
