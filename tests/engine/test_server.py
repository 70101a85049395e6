"""The engine as a real process: every command gets its answer, whenever it comes."""

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kvstudio.recording import protocol as p
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests.engine import driving
from tests.engine.driving import EngineProcess
from tests.engine.noisy_engine import LIKE_A_MESSAGE

HELLO = RunSpec(text="Hello world.")
QUICK = replace(HELLO, eos_threshold=-1000.0, trace="cache")
MOVES = (p.Step(), p.Run(), p.Pause())


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    """One process for many tests: it has the demo model, its voice `low`, and no run."""
    with EngineProcess(driving.script("noisy_engine.py")) as process:
        process.send(driving.load_demo(), p.Voice(voice="low"))
        # The second command comes too early, which is told.
        assert "no model is loaded" in process.error("voice") or "busy" in process.error("voice")
        process.state("loaded")
        process.send(p.Voice(voice="low"))
        process.state("ready")
        yield process


@pytest.fixture(autouse=True)
def nothing_corrupted(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "engine" in request.fixturenames:
        process = request.getfixturevalue("engine")
        assert process.corrupted == []
        assert process.process.poll() is None


def test_a_fresh_process_from_first_word_to_last() -> None:
    with driving.engine() as fresh:
        assert fresh.state("starting").words
        ready = fresh.next(p.Ready)
        assert {"torch", "pocket_tts", "python", "kvstudio"} <= set(ready.versions)
        assert "english" in ready.languages
        assert "alba" in ready.voices
        assert "cpu" in ready.devices
        assert ready.pid == fresh.process.pid
        fresh.state("empty")
        assert fresh.refusal(p.Voice(voice="low")) == "no model is loaded; load one first"
        assert fresh.refusal(p.Budget(text="Hello")) == "no model is loaded; load one first"
        for command in MOVES:
            words = f"there is no run to {command.name}; start one first"
            assert fresh.refusal(command) == words
        assert fresh.refusal(p.Stop()) == "there is nothing to stop"
        fresh.close_stdin()
        assert fresh.wait() == 0
        assert fresh.corrupted == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"\n", "not a JSON message"),
        (b"step\n", "not a JSON message"),
        (b'{"do": "step"\n', "not a JSON message"),
        (b"\xff\xfe\x00\x80\n", "not a JSON message"),
        (b"[" * 100_000 + b"\n", "not a JSON message"),
        (b'["step"]\n', "a message needs a 'do'"),
        (b'{"event": "ready"}\n', "a message needs a 'do'"),
        (b'{"do": 3}\n', "a message needs a 'do'"),
        (b'{"do": "dance"}\n', "unknown do 'dance'; known: load, voice"),
        (b'{"do": "step", "count": "many"}\n', "'step': count is 'many'"),
        (b'{"do": "step", "size": 3}\n', "'step': there is no size"),
        (b'{"do": "run", "until": 1e400}\n', "'run': until is inf"),
    ],
)
def test_garbage_is_answered(engine: EngineProcess, line: bytes, words: str) -> None:
    engine.send_raw(line)
    assert words in engine.error("")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"kind": "gift"}, "unknown kind of model 'gift'"),
        ({"kind": "language"}, "no language given for the model"),
        ({"kind": "demo", "colour": "blue"}, "there is no colour"),
        ({"kind": "demo", "device": 3}, "device is 3"),
        ({"kind": "language", "value": "klingon"}, "has no language 'klingon'"),
    ],
)
def test_load_of_nonsense(engine: EngineProcess, model: dict[str, object], words: str) -> None:
    assert words in engine.refusal(p.Load(model=model))


def test_moves_without_a_run(engine: EngineProcess) -> None:
    for command in MOVES:
        words = f"there is no run to {command.name}; start one first"
        assert engine.refusal(command) == words
    assert engine.refusal(p.Stop()) == "there is nothing to stop"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": "  "}, "there is no text to speak"),
        ({"voice": ""}, "no voice chosen"),
        ({"edits": [{"recipe": "melt", "frame": 3}]}, "unknown recipe 'melt'"),
        ({"temperature": -1}, "temperature must be 0 or more"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"tempo": 3}, "there is no tempo"),
        ({"voice": "nobody"}, "no voice file or predefined voice 'nobody'"),
    ],
)
def test_start_of_nonsense(
    engine: EngineProcess, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    command = driving.start(HELLO, tmp_path / "run.kvrec")
    assert words in engine.refusal(replace(command, spec={**command.spec, **change}))
    assert not (tmp_path / "run.kvrec").exists()


def test_start_where_nothing_can_be_written(engine: EngineProcess, tmp_path: Path) -> None:
    taken = tmp_path / "taken.kvrec"
    taken.touch()
    assert "a file of this name exists" in engine.refusal(driving.start(HELLO, taken))
    assert engine.settle() == "ready"
    lost = tmp_path / "lost" / "run.kvrec"
    assert "does not exist" in engine.refusal(driving.start(HELLO, lost))
    assert engine.settle() == "ready"


def test_a_bad_voice_leaves_the_good_one(engine: EngineProcess, tmp_path: Path) -> None:
    words = engine.refusal(p.Voice(voice=str(tmp_path / "lost.wav")))
    assert words == f"there is no voice file {tmp_path / 'lost.wav'}"
    assert engine.settle() == "ready"


def test_commands_while_held(engine: EngineProcess, tmp_path: Path) -> None:
    engine.begin(QUICK, tmp_path / "run.kvrec")
    busy = "the engine is busy with a run; stop that first"
    assert engine.refusal(driving.load_demo()) == busy
    assert engine.refusal(p.Voice(voice="high")) == busy
    assert engine.refusal(driving.start(QUICK, tmp_path / "other.kvrec")) == busy
    assert "step 1 or more" in engine.refusal(p.Step(count=0))
    assert "frame 0 has happened already" in engine.refusal(p.Run(until=0))
    engine.send(p.Pause())
    assert engine.state("held").next_frame == 1
    engine.send(p.Budget(text="One. Two."))
    assert engine.next(p.Budgeted).chunks
    finished = engine.finish()
    assert (finished.status, finished.reason) == ("stopped", "stopped before frame 1")


def test_commands_while_running(engine: EngineProcess, tmp_path: Path) -> None:
    spec = replace(HELLO, eos_threshold=1e9)  # long enough to be met while it runs
    engine.begin(spec, tmp_path / "run.kvrec")
    engine.send(p.Run())
    engine.next(p.FrameAdded, lambda event: event.frame == 2)
    assert "busy with a run" in engine.refusal(driving.load_demo())
    engine.send(p.Pause())
    held = engine.state("held")
    assert held.next_frame is not None
    assert engine.frames()[-1] == held.next_frame - 1
    assert engine.finish().status == "stopped"


def test_steps_and_runs(engine: EngineProcess, tmp_path: Path) -> None:
    path = tmp_path / "run.kvrec"
    engine.begin(QUICK, path)
    with Recording.open(path) as recording:
        assert [frame.phase for frame in recording.frames] == ["voice"]
        assert recording.live
        for command, last in ((p.Step(), 1), (p.Step(count=3), 4), (p.Run(until=6), 6)):
            engine.send(command)
            for frame in range(len(recording.frames), last + 1):
                engine.next(p.FrameAdded, lambda event, number=frame: event.frame == number)  # type: ignore[misc]
                recording.refresh()
                assert len(recording.frames) > frame, "what was reported can be read"
            assert engine.state("held").next_frame == last + 1
            assert len(recording.frames) == last + 1
        engine.send(p.Run())
        finished = engine.next(p.Finished)
        assert (finished.status, finished.reason) == ("finished", "ended by EOS")
        assert finished.path == str(path)
        assert engine.settle() == "ready"
        recording.refresh()
        assert recording.status == "finished"
        assert not recording.live


def test_the_next_run_right_after_the_last(engine: EngineProcess, tmp_path: Path) -> None:
    """The answer to one command is the time for the next."""
    for number in range(3):
        engine.send(driving.start(QUICK, tmp_path / f"{number}.kvrec"))
        engine.next(p.Started)
        engine.send(p.Run())
        assert engine.next(p.Finished).status == "finished"
    engine.settle()


def test_start_brings_model_and_voice_along(
    engine: EngineProcess, tmp_path: Path, tiny_config: Path
) -> None:
    spec = replace(
        QUICK,
        model=ModelSource("config", str(tiny_config)),
        voice=str(tiny_config.with_name("voice.safetensors")),
    )
    engine.send(driving.start(spec, tmp_path / "run.kvrec"))
    assert engine.state("loading").words.startswith("loading tiny")
    assert engine.next(p.Loaded).card["layers"] == 3
    assert engine.next(p.Voiced).card["slots"] == 15
    engine.next(p.Started)
    engine.state("held")
    engine.finish()
    engine.send(driving.start(HELLO, tmp_path / "demo.kvrec"))
    assert engine.next(p.Loaded).card["layers"] == 6
    engine.state("held")
    engine.finish()


def test_what_is_printed_is_logged_and_recorded(engine: EngineProcess, tmp_path: Path) -> None:
    path = tmp_path / "run.kvrec"
    began = len(engine.events)
    engine.send(driving.start(QUICK, path))
    engine.next(p.Started)
    engine.send(p.Run())
    assert engine.next(p.Finished).status == "finished"
    logged = [event for event in engine.events[began:] if isinstance(event, p.Log)]
    lines = {stream: [e.text for e in logged if e.stream == stream] for stream in _STREAMS}
    with Recording.open(path) as recording:
        kept = recording.logs()
        heard = len(list(recording.audio_frames()))
    printed = [text for text in lines["stdout"] if text.startswith("printed ")]
    assert len(printed) == heard > 5
    numbers = [text.removeprefix("printed ") for text in printed]
    for number in numbers:
        assert f"written to 1 in {number}" in lines["stdout"]
        assert f"from C {number}" in lines["stdout"]
        assert f"printed to stderr {number}" in lines["stderr"]
        assert f"written to 2 in {number}" in lines["stderr"]
        assert any(f"logged {number}" in text for text in lines["stderr"])
        assert any(f"warned {number}" in text for text in lines["stderr"])
    assert lines["stdout"].count(LIKE_A_MESSAGE) == heard
    for stream in _STREAMS:
        ours, theirs = [line.text for line in kept if line.stream == stream], lines[stream]
        assert ours == theirs[-len(ours) :]
        assert len(theirs) - len(ours) < 5, "all but what was printed before the run"
    assert not any(isinstance(e, p.State) and e.state == "dead" for e in engine.events)


def test_odd_lines_are_logged_as_well_as_can_be(engine: EngineProcess) -> None:
    """Those of the process's first decoding; see `noisy_engine`."""
    logged = [event.text for event in engine.events if isinstance(event, p.Log)]
    assert "not UTF-8: \ufffd\ufffd" in logged
    assert " 100%|##########" in logged
    assert sum(len(text) for text in logged if text.startswith(("long", "ong"))) > 20_000
    assert "nobody ends this line" in "\n".join(logged)


def test_budget_of_a_long_text_keeps_nobody_waiting(engine: EngineProcess) -> None:
    long = "a b. " * 400
    engine.send(p.Budget(text=long), p.Budget(text=long), p.Budget(text="Hello."))
    engine.send_raw(b"garbage\n")
    engine.error("")
    answered = engine.next(p.Budgeted, lambda event: len(event.chunks) == 1)
    assert answered.chunks[0]["required_len"] > 0
    budgets = [event for event in engine.events if isinstance(event, p.Budgeted)]
    assert len([event for event in budgets if len(event.chunks) > 10]) <= 1


def test_a_voice_changed_in_place_is_made_again(engine: EngineProcess, tmp_path: Path) -> None:
    spec = replace(QUICK, copy_state=False)
    heard = []
    for number in range(2):
        path = tmp_path / f"{number}.kvrec"
        engine.send(driving.start(spec, path))
        if number:
            engine.next(p.Voiced)
        engine.next(p.Started)
        engine.send(p.Run())
        assert engine.next(p.Finished).status == "finished"
        with Recording.open(path) as recording:
            heard.append(recording.audio().tobytes())
    assert heard[0] == heard[1]
    engine.settle()


def test_an_interrupt_is_for_the_window(engine: EngineProcess) -> None:
    """Ctrl-C in a terminal reaches the engine too, which waits for what the window says."""
    engine.process.send_signal(signal.SIGINT)
    assert "there is no run" in engine.refusal(p.Pause())


@pytest.mark.parametrize("how", ["shut down", "end of input"])
def test_leaves_in_good_order_while_held(tmp_path: Path, how: str) -> None:
    path = tmp_path / "run.kvrec"
    with driving.engine() as leaving:
        leaving.begin(HELLO, path)
        leaving.send(p.Step(count=2))
        assert leaving.state("held").next_frame == 3
        if how == "shut down":
            leaving.send(p.ShutDown())
        else:
            leaving.close_stdin()
        assert leaving.wait() == 0
    with Recording.open(path) as recording:
        assert recording.status == "stopped"
        assert len(recording.frames) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["run.kvrec"]


_STREAMS = ("stdout", "stderr")
