"""`kvstudio.record` on releases of pocket-tts old and new, each in an environment of its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import kvstudio
from kvstudio.recording.interpreter import engine_command
from kvstudio.recording.reader import Recording
from tests import kept

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SCRIPT = """
import copy, sys
import torch
import kvstudio
from pocket_tts import TTSModel

config, voice, path = sys.argv[1:]
tts = TTSModel.load_model(config=config, eos_threshold=-1000.0)
tts.max_decoder_frames_per_call = 1

def say(state):
    torch.manual_seed(1)
    return tts.generate_audio(state, "One two.", frames_after_eos=3)

def traces():
    own = {name: (type(m), vars(m)) for name, m in tts.named_modules()}
    return {name: (kind, {k: id(v) for k, v in all.items()}) for name, (kind, all) in own.items()}

from pathlib import Path
state = tts.get_state_for_audio_prompt(Path(voice))
expected, before = say(state), traces()
with kvstudio.record(tts, path):
    made = tts.get_state_for_audio_prompt(Path(voice))
    assert torch.equal(say(made), expected)
    assert torch.equal(say(state), expected)
    with torch.no_grad():
        own = copy.deepcopy(state)
        latent = torch.full((1, 1, tts.flow_lm.ldim), float("nan"))
        tts._expand_kv_cache(own, 400)
        prepared = tts.flow_lm.conditioner.prepare("One two.")
        tokens = getattr(prepared, "tokens", prepared)
        tts._run_flow_lm_and_increment_step(model_state=own, text_tokens=tokens)
        for _ in range(3):
            latent, _ = tts._run_flow_lm_and_increment_step(
                model_state=own, backbone_input_latents=latent
            )
assert traces() == before
assert torch.equal(say(state), expected)
"""


@pytest.mark.parametrize("number", kept.RELEASES)
def test_release(release: Callable[[str], kept.Release], tmp_path: Path, number: str) -> None:
    theirs, path = release(number), tmp_path / "run.kvrec"
    command = engine_command(str(theirs.python))
    try:
        done = subprocess.run(
            [theirs.python, "-c", SCRIPT, theirs.config, theirs.voice, path],
            env=command.environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        command.cleanup()
    assert done.returncode == 0, done.stderr
    with Recording.open(path) as recording:
        assert recording.facts.versions["pocket_tts"] == number
        phases = [frame.phase for frame in recording.frames if frame.chunk == 0]
        assert phases[:3] == ["voice", "text", "decode"]
        assert recording.frames[0].op_count > 0
        assert [frame.phase for frame in recording.frames][-4:] == ["text", *["decode"] * 3]
    report = kvstudio.check(path)
    assert report.verdict == "clean", report.findings
