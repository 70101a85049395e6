"""Loading as a user without any file does it, against a hub on this machine."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.hub import GATED, Hub
from tests.models import ENGLISH_2M

SPEAK = """
import sys
from pocket_tts import TTSModel
tts = TTSModel.load_model(language=sys.argv[1], eos_threshold=-1e6)
state = tts.get_state_for_audio_prompt("alba")
audio = tts.generate_audio(state, "Hello world.", frames_after_eos=2)
print(tts.has_voice_cloning, bool(audio.isfinite().all()), len(audio))
"""
FETCH = """
import sys
from huggingface_hub import hf_hub_download
print(hf_hub_download(repo_id="some/model", filename="deep/weights.bin", revision=sys.argv[1]))
"""
REVISION = "a" * 40


def child(hub: Hub, script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=hub.environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def weights(hub: Hub, tmp_path: Path) -> bytes:
    content = bytes(range(256)) * 400
    (tmp_path / "weights").write_bytes(content)
    hub.add(f"hf://some/model/deep/weights.bin@{REVISION}", tmp_path / "weights")
    return content


def test_a_language_loads_and_speaks_without_any_file(hub: Hub) -> None:
    done = child(hub, SPEAK, ENGLISH_2M)
    assert done.stdout.split() == ["True", "True", str(8 * 1920)], done.stderr
    got = [line for line in hub.asked if line.startswith("GET")]
    assert [line.rpartition("/")[2] for line in got] == [
        "tokenizer.model",
        "model.safetensors",
        "alba.safetensors",
    ]


def test_terms_not_accepted_means_no_voice_cloning(hub: Hub) -> None:
    hub.conduct.gated.add(GATED)
    done = child(hub, SPEAK, ENGLISH_2M)
    assert done.stdout.split()[:2] == ["False", "True"], done.stderr


def test_files_arrive_whole_and_are_not_asked_for_twice(hub: Hub, weights: bytes) -> None:
    path = child(hub, FETCH, REVISION).stdout.strip()
    assert Path(path).read_bytes() == weights
    asked = len(hub.asked)
    assert child(hub, FETCH, REVISION).stdout.strip() == path
    assert len(hub.asked) == asked


def test_slow_hub_is_still_sending_when_the_caller_is_killed(hub: Hub, weights: bytes) -> None:
    hub.conduct.bytes_per_second = 20_000
    calling = subprocess.Popen(
        [sys.executable, "-c", FETCH, REVISION], env=hub.environment(), stdout=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: any(line.startswith("GET") for line in hub.asked))
        assert calling.poll() is None
    finally:
        calling.kill()
        calling.wait()
    hub.conduct.bytes_per_second = None
    assert Path(child(hub, FETCH, REVISION).stdout.strip()).read_bytes() == weights


def test_broken_off_download_fails_and_leaves_nothing_that_looks_whole(
    hub: Hub, weights: bytes
) -> None:
    hub.conduct.cut_after = len(weights) // 2
    done = child(hub, FETCH, REVISION)
    assert done.returncode != 0
    assert not list(Path(hub.environment()["HF_HOME"]).rglob("weights.bin"))


@pytest.mark.parametrize("status", [HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED])
def test_refusal_reaches_the_caller(hub: Hub, status: HTTPStatus) -> None:
    hub.conduct.status = status
    done = child(hub, FETCH, REVISION)
    assert done.returncode != 0
    assert str(status.value) in done.stderr


def test_closed_hub_refuses_connections(hub: Hub) -> None:
    hub.close()
    address = urlsplit(hub.endpoint)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname or "", address.port or 0))


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
