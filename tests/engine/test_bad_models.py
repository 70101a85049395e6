"""Models that cannot be loaded say why and what to do, and leave the loaded one in its place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kvstudio.engine.failures import explain
from kvstudio.engine.session import Session
from kvstudio.recording.spec import ModelSource, RunSpec
from tests import voices
from tests.engine.running import observed, session_with


@pytest.fixture(scope="module")
def session() -> Session:
    return session_with(ModelSource(), "low")


def why_not(session: Session, source: ModelSource) -> str:
    """The message for a model that must be refused; the one before is still loaded."""
    before = (session.tts, session.source, session.voice)
    with pytest.raises(Exception, match=r".") as caught:
        session.load(source)
    assert (session.tts, session.source, session.voice) == before
    return explain(caught.value, "loading the model")[0]


def refused_config(session: Session, path: Path) -> str:
    return why_not(session, ModelSource("config", str(path)))


def refused_checkpoint(session: Session, path: Path, config: Path) -> str:
    return why_not(session, ModelSource("checkpoint", str(path), config=str(config)))


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        (("flow_lm", "transformer", "d_model"), "flow_lm.transformer.d_model: field required"),
        (("mimi",), "mimi: field required"),
    ],
)
def test_config_with_a_missing_key(
    session: Session, tiny_config: Path, tmp_path: Path, keys: tuple[str, ...], where: str
) -> None:
    words = refused_config(session, voices.config_without(tiny_config, tmp_path, *keys))
    assert words == (
        "Loading the model failed: the config does not fit this release of pocket-tts: " + where
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (voices.config_with_unknown_key, "colour: extra inputs are not permitted"),
        (voices.config_with_wrong_weights, "the weights do not fit the config: Missing key(s)"),
        (voices.config_with_lost_weights, "there is no such file: "),
        (voices.config_with_cut_weights, "the weights file is damaged or is not safetensors"),
    ],
)
def test_config_that_does_not_fit(
    session: Session,
    tiny_config: Path,
    tmp_path: Path,
    change: Callable[[Path, Path], Path],
    words: str,
) -> None:
    assert words in refused_config(session, change(tiny_config, tmp_path))


def test_weights_that_are_lost_are_named(
    session: Session, tiny_config: Path, tmp_path: Path
) -> None:
    words = refused_config(session, voices.config_with_lost_weights(tiny_config, tmp_path))
    assert words.endswith(str(tmp_path / "lost.safetensors"))


def test_weights_that_are_not_safetensors(
    session: Session, tiny_config: Path, tmp_path: Path
) -> None:
    path = voices.config_with_lost_weights(tiny_config, tmp_path)
    (tmp_path / "lost.safetensors").write_text("What weights? " * 100, encoding="utf-8")
    assert "the weights file is damaged or is not safetensors" in refused_config(session, path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"flow_lm: [unclosed\n\tmimi: {", "the config is not YAML"),
        (b"- 1\n- 2\n", "the config is empty, or is no list of keys with values"),
        (b"", "the config is empty, or is no list of keys with values"),
        (bytes(range(256)), "the config is not a text file"),
    ],
    ids=["broken", "list", "empty", "binary"],
)
def test_config_that_is_none(session: Session, tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    assert words in refused_config(session, path)


def test_config_that_is_not_there(session: Session, tmp_path: Path) -> None:
    words = refused_config(session, tmp_path / "lost.yaml")
    assert "there is no such file" in words
    assert str(tmp_path / "lost.yaml") in words


def test_config_of_another_kind(session: Session, tmp_path: Path) -> None:
    assert "must be a YAML file" in refused_config(session, tmp_path / "config.json")


def test_config_that_is_a_folder(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "config.yaml"
    folder.mkdir()
    assert f"{folder} is a folder, not a file" in refused_config(session, folder)


def test_unknown_language_tells_the_known_ones(session: Session) -> None:
    words = why_not(session, ModelSource("language", "klingon"))
    assert words.startswith("this release of pocket-tts has no language 'klingon'")
    assert "english," in words
    assert "french_24l" in words


@pytest.mark.parametrize("device", ["warp", "quantum:7"])
def test_unknown_device_tells_the_known_ones(session: Session, device: str) -> None:
    words = why_not(session, ModelSource(device=device))
    assert words.startswith(f"there is no device {device!r} here; there is cpu")


@pytest.mark.parametrize("make", [voices.hostile_checkpoint, voices.hostile_plain_pickle])
def test_hostile_checkpoint_is_refused_and_not_run(
    session: Session, tiny_config: Path, tmp_path: Path, make: Callable[[Path, Path], Path]
) -> None:
    marker = tmp_path / "marker"
    words = refused_checkpoint(session, make(tmp_path, marker), tiny_config)
    assert not marker.exists()
    assert "it is a pickle that would run code when opened" in words
    assert "refused" in words


def test_hostile_checkpoint_would_have_run(tmp_path: Path) -> None:
    """The two files above are what they claim to be."""
    import torch

    marker = tmp_path / "marker"
    torch.load(voices.hostile_checkpoint(tmp_path, marker), weights_only=False)
    assert marker.exists()


def test_checkpoint_without_weights(session: Session, tiny_config: Path, tmp_path: Path) -> None:
    path = voices.checkpoint_without_model(tmp_path)
    words = refused_checkpoint(session, path, tiny_config)
    assert "this is not a training checkpoint of pocket-tts" in words


def test_checkpoint_that_is_not_there(session: Session, tiny_config: Path, tmp_path: Path) -> None:
    words = refused_checkpoint(session, tmp_path / "lost.pt", tiny_config)
    assert words.endswith(f"there is no such file: {tmp_path / 'lost.pt'}")


def test_valid_checkpoint_loads_and_speaks(
    tiny_config: Path, demo_voice: Path, tmp_path: Path
) -> None:
    path = voices.checkpoint(tiny_config, tmp_path)
    source = ModelSource("checkpoint", str(path), config=str(tiny_config))
    session = session_with(source, str(demo_voice))
    spec = RunSpec(model=source, voice=str(demo_voice), text="a", eos_threshold=-1000.0)
    assert observed(session, spec, tmp_path / "run.kvrec")[0].status == "finished"


def test_engine_speaks_afterwards(session: Session, tmp_path: Path) -> None:
    spec = RunSpec(text="a", eos_threshold=-1000.0)
    assert observed(session, spec, tmp_path / "run.kvrec")[0].status == "finished"
