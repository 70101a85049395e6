"""The models that the other tests load: they must behave like released ones, only quieter."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from pocket_tts import TTSModel
from pocket_tts.models.text_chunking import split_into_best_sentences
from pocket_tts.modules.text_conditioner import build_tokenizer

from tests import kept, models

TEXTS = [
    "Hello world. I am a tiny voice.",
    "It's 5 o'clock; she said: \"Don't (ever) pay $3.50 for [that]!\" - really?",
    "Zyzzyva, fjord & qwerty... 100% sure?! Yes.",
]
LONG = "One sentence is not enough to fill a chunk. So here is another one, and it goes on. " * 4
SAMPLES_PER_FRAME = 1920
EOS_NOT_BEFORE = 6


@pytest.mark.parametrize(
    ("fixture", "layers", "kv_heads"),
    [
        ("demo_config", 6, 4),
        ("tiny_config", 3, 3),
        ("tiny_grouped_config", 3, 1),
        ("english_2m_config", 8, 1),
        ("english_config", 6, 16),
        pytest.param("english_24l_config", 24, 16, marks=pytest.mark.slow),
    ],
)
def test_speaks_after_a_plain_load(
    request: pytest.FixtureRequest, demo_voice: Path, fixture: str, layers: int, kv_heads: int
) -> None:
    config: Path = request.getfixturevalue(fixture)
    tts = TTSModel.load_model(config=config, eos_threshold=-1e6)

    state = tts.get_state_for_audio_prompt(demo_voice)
    assert [f"transformer.layers.{n}.self_attn" for n in range(layers)] == list(state)
    assert all(entry["cache"].shape[3] == kv_heads for entry in state.values())

    audio = tts.generate_audio(state, "Hello world.", frames_after_eos=2)
    assert audio.isfinite().all()
    assert audio.abs().max() > 0
    assert audio.shape == ((EOS_NOT_BEFORE + 2) * SAMPLES_PER_FRAME,)


def test_voice_beside_the_model_can_be_spoken(tiny_config: Path) -> None:
    tts = TTSModel.load_model(config=tiny_config, eos_threshold=-1e6)
    state = tts.get_state_for_audio_prompt(tiny_config.with_name("voice.safetensors"))
    assert tts.generate_audio(state, "Hello.").isfinite().all()


@pytest.mark.parametrize(
    ("eos_bias", "frames"),
    [
        pytest.param(models.ENDS_AT_ONCE, 9, id="ends"),
        pytest.param(models.NEVER_ENDS, 42, id="runs"),
    ],
)
def test_bias_of_the_stop_logit_decides_the_end(
    tmp_path: Path, demo_voice: Path, eos_bias: float, frames: int
) -> None:
    tts = TTSModel.load_model(config=models.build(models.TINY, tmp_path, eos_bias=eos_bias))
    audio = tts.generate_audio(
        tts.get_state_for_audio_prompt(demo_voice), "Yes.", frames_after_eos=3
    )
    assert len(audio) / SAMPLES_PER_FRAME == frames


def test_same_seed_same_weights(tmp_path: Path) -> None:
    def weights(folder: str, seed: int) -> bytes:
        config = models.build(models.TINY_GROUPED, tmp_path / folder, seed=seed)
        return config.with_name("model.safetensors").read_bytes()

    torch.manual_seed(1)
    first = weights("first", 3)
    torch.manual_seed(2)
    assert weights("again", 3) == first
    assert weights("other", 4) != first


def test_loads_from_any_folder(
    demo_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert TTSModel.load_model(config=demo_config).temp == 0.0


@pytest.fixture(scope="module", params=["tokenizers", "sentencepiece"])
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize("n_bins", [300, 4000])
def test_text_survives_the_tokenizer(kind: str, n_bins: int, tmp_path: Path) -> None:
    write = {"tokenizers": models.write_tokenizers, "sentencepiece": models.write_sentencepiece}
    tokenizer = build_tokenizer(n_bins, str(write[kind](tmp_path, n_bins)), kind)
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode(text)) == text

    chunks = split_into_best_sentences(tokenizer, LONG, 50, False, remove_semicolons=False)
    assert len(chunks) > 1
    assert " ".join(chunks) == LONG.strip()
    assert all(chunk.endswith((".", ",")) for chunk in chunks)


def test_kept_model_is_built_once(tiny_config: Path) -> None:
    written = tiny_config.stat().st_mtime_ns
    assert kept.model(models.TINY) == tiny_config
    assert tiny_config.stat().st_mtime_ns == written


@pytest.mark.slow
@pytest.mark.parametrize("number", kept.RELEASES)
def test_each_release_speaks_in_its_own_environment(
    release: Callable[[str], kept.Release], number: str, tmp_path: Path
) -> None:
    speaking = release(number)
    script = tmp_path / "speak.py"
    script.write_text(
        "import sys\n"
        "from importlib.metadata import version\n"
        "from pathlib import Path\n"
        "from pocket_tts import TTSModel\n"
        "tts = TTSModel.load_model(config=sys.argv[1])\n"
        "state = tts.get_state_for_audio_prompt(Path(sys.argv[2]))\n"
        "audio = tts.generate_audio(state, 'Yes.')\n"
        "print(version('pocket-tts'), version('torch'), bool(audio.isfinite().all()))\n"
    )
    done = subprocess.run(
        [speaking.python, script, speaking.config, speaking.voice],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.stdout.split() == [number, version("torch"), "True"], done.stderr
    assert speaking.python != Path(sys.executable)
