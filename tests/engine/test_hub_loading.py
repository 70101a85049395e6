"""Loading from the hub by language name, against one on loopback: progress, cancel, refusals."""

import socket
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest

from kvstudio.recording import protocol as p
from kvstudio.recording.reader import Recording
from kvstudio.recording.spec import ModelSource, RunSpec
from tests import models
from tests.engine import driving
from tests.engine.driving import EngineProcess
from tests.hub import GATED, VOICE, Conduct, Hub, publish

SOURCE = ModelSource("language", models.ENGLISH_2M)
LOAD = p.Load(model={"kind": "language", "value": models.ENGLISH_2M})
UNGATED = "kyutai/pocket-tts-without-voice-cloning"
SLOW = 2_000_000  # bytes a second; the weights are 45 MB


@pytest.fixture(scope="module")
def hub(english_2m_config: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with Hub(tmp_path_factory.mktemp("hub")) as serving:
        publish(serving, models.ENGLISH_2M, english_2m_config.parent)
        yield serving


@pytest.fixture(scope="module")
def process(hub: Hub) -> Iterator[EngineProcess]:
    with driving.engine(hub.environment()) as started:
        started.state("empty")
        yield started


@pytest.fixture
def engine(hub: Hub, process: EngineProcess) -> Iterator[EngineProcess]:
    yield process
    hub.conduct = Conduct()
    assert process.corrupted == []
    assert process.process.poll() is None


@pytest.fixture
def weights(english_2m_config: Path) -> Path:
    return english_2m_config.with_name("model.safetensors")


# In the order in which a new user would meet them: nothing is in the cache at first.


def test_nothing_there(hub: Hub, engine: EngineProcess) -> None:
    hub.conduct = Conduct(status=HTTPStatus.NOT_FOUND)
    words = engine.refusal(LOAD)
    assert hub.endpoint in words
    assert "answers only with an error: " in words
    assert "404" in words
    engine.settle()


def test_no_access(hub: Hub, engine: EngineProcess) -> None:
    hub.conduct = Conduct(gated={GATED, UNGATED})
    words = engine.refusal(LOAD)
    assert f"{hub.endpoint} refuses access to the weights" in words
    assert "`hf auth login`" in words
    engine.settle()


def test_hub_that_is_broken(hub: Hub, engine: EngineProcess) -> None:
    hub.conduct = Conduct(status=HTTPStatus.INTERNAL_SERVER_ERROR)
    words = engine.refusal(LOAD)
    assert "answers only with errors" in words
    engine.settle()


def test_cancel_in_the_middle(hub: Hub, engine: EngineProcess, weights: Path) -> None:
    hub.conduct = Conduct(bytes_per_second=SLOW)
    size = weights.stat().st_size
    engine.send(LOAD)
    engine.state("loading")
    seen = engine.next(p.Progress, lambda event: event.unit == "bytes" and event.total == size)
    assert seen.what == "model.safetensors"
    assert 0 < seen.done < size
    seen = engine.next(p.Progress, lambda event: event.seconds_left is not None)
    assert seen.seconds_left is not None
    assert seen.seconds_left > 0
    busy = "the engine is busy loading the model; stop that first"
    assert engine.refusal(LOAD) == busy
    assert engine.refusal(driving.start(RunSpec(), Path("run.kvrec"))) == busy
    assert engine.refusal(p.Step()) == "there is no run to step; start one first"
    engine.send(p.Stop())
    assert engine.error("load") == "load was cancelled"
    assert engine.settle() in ("empty", "loaded", "ready")


def test_cancel_at_once(hub: Hub, engine: EngineProcess) -> None:
    hub.conduct = Conduct(bytes_per_second=SLOW)
    engine.send(LOAD, p.Stop())
    assert engine.error("load") == "load was cancelled"
    engine.settle()


def test_cancel_while_the_hub_is_asked_again(hub: Hub, engine: EngineProcess) -> None:
    hub.conduct = Conduct(status=HTTPStatus.SERVICE_UNAVAILABLE)
    began = len(engine.events)
    engine.send(LOAD)
    engine.next(p.Log, lambda event: "Retrying in" in event.text)
    engine.send(p.Stop())
    assert engine.error("load") == "load was cancelled"
    engine.settle()
    retries = [e for e in engine.events[began:] if isinstance(e, p.Log) and "Retrying" in e.text]
    assert len(retries) < 4


def test_download_that_breaks_off(hub: Hub, engine: EngineProcess) -> None:
    hub.conduct = Conduct(cut_after=1_000_000)
    words = engine.refusal(LOAD)
    assert words.startswith("Loading the model failed: ")
    assert "Traceback" not in words
    engine.settle()


def test_loads_and_speaks(hub: Hub, engine: EngineProcess, weights: Path, tmp_path: Path) -> None:
    began = len(engine.events)
    engine.send(LOAD)
    card = engine.next(p.Loaded).card
    assert (card["layers"], card["heads"]) == (8, 1)
    told = [event for event in engine.events[began:] if isinstance(event, p.Progress)]
    sizes = [event.done for event in told if event.total == weights.stat().st_size]
    assert sizes == sorted(sizes)
    assert sizes[-1] == weights.stat().st_size
    path = tmp_path / "run.kvrec"
    spec = RunSpec(model=SOURCE, voice=VOICE, text="Hello.")
    engine.send(driving.start(spec, path))
    voiced = engine.next(p.Voiced)
    assert voiced.card["source"] == VOICE
    assert voiced.card["slots"] > 0
    engine.state("held")
    engine.send(p.Step(count=3))
    assert engine.state("held").next_frame == 4
    engine.finish()
    with Recording.open(path) as recording:
        assert len(recording.frames) == 4


def test_unknown_predefined_voice(engine: EngineProcess) -> None:
    words = engine.refusal(p.Voice(voice="nobody"))
    assert "no voice file or predefined voice 'nobody'" in words
    assert VOICE in words
    engine.settle()


def test_predefined_voice_that_the_hub_has_not(hub: Hub, engine: EngineProcess) -> None:
    words = engine.refusal(p.Voice(voice="marius"))
    assert "has no such file" in words
    assert "/marius.safetensors. Check" in words
    engine.settle()


def test_weights_that_cannot_clone(hub: Hub, demo_voice: Path, tmp_path: Path) -> None:
    """Without access to the gated weights pocket-tts takes others, which need predefined voices."""
    hub.conduct = Conduct(gated={GATED})
    environment = hub.environment() | {"HF_HOME": str(tmp_path / "cache")}
    with driving.engine(environment) as fresh:
        fresh.send(LOAD)
        fresh.next(p.Loaded)
        fresh.settle()
        words = fresh.refusal(p.Voice(voice=str(demo_voice)))
        assert "these weights cannot clone a voice from an audio file" in words
        assert "predefined voice" in words
    hub.conduct = Conduct()


def test_no_network(hub: Hub, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, so that nobody else answers there
        host = f"127.0.0.1:{closed.getsockname()[1]}"
        endpoint = {"HF_ENDPOINT": f"http://{host}", "HF_HOME": str(tmp_path)}
        with driving.engine(hub.environment() | endpoint) as cut_off:
            words = cut_off.refusal(LOAD)
            assert f"http://{host} cannot be reached" in words
            assert "Check the network" in words
            config = p.Load(model={"kind": "config", "value": f"http://{host}/config.yaml"})
            assert f"{host} cannot be reached. Check the network" in cut_off.refusal(config)
            retries = [e for e in cut_off.events if isinstance(e, p.Log) and "Retrying" in e.text]
            assert len(retries) < 4, "it is given up after seconds"
            cut_off.send(driving.load_demo())
            assert cut_off.next(p.Loaded).card["layers"] == 6
            assert cut_off.settle() == "loaded"
