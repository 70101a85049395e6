"""Every recipe works on old releases of pocket-tts, or says in words why it does not."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kvstudio.engine import selftest
from kvstudio.recording.interpreter import engine_command
from kvstudio.recording.recipes import RECIPES, Recipe, parse_edit
from tests import kept

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
UNHEARD = "expand-not-nan"  # nothing reads what it fills
# They move Mimi on faster, so at the very end of a run without EOS its cache is full.
OVERRUN = ("codec-step", "second-codec-thread")
# Runs in the other interpreter: an untouched run, then each edit; how it ended and what it said.
RUN_ALL = """
import hashlib, json, logging, sys, tempfile
from pathlib import Path
from kvstudio.engine.gate import Gate
from kvstudio.engine.progress import ProgressReporter
from kvstudio.engine.session import Session
from kvstudio.recording.reader import Recording
from kvstudio.recording.recipes import parse_edit
from kvstudio.recording.spec import ModelSource, RunSpec
logging.disable(logging.CRITICAL)
config, voice, *edits = sys.argv[1:]
source = ModelSource("config", config)
session = Session(ProgressReporter(lambda progress: None))
session.load(source), session.make_voice(voice)
told = {}
for number, edit in enumerate(["", *edits]):
    path = Path(tempfile.mkdtemp()) / "run.kvrec"
    chosen = (parse_edit(edit),) if edit else ()
    spec = RunSpec(source, voice, "Hi.", edits=chosen, trace="cache", temperature=0.7)
    gate = Gate()
    gate.run()
    outcome = session.run(spec, session.open_recording(spec, path), gate)
    left = hashlib.sha256()
    with Recording.open(path) as recording:
        left.update(recording.audio().tobytes())
        for frame in recording.frames:
            latent = recording.latent(frame.id)
            left.update(b"" if latent is None else latent.tobytes())
        for cache in recording.caches:
            left.update(recording.values(cache, len(recording.frames) - 1).tobytes())
        left.update(str([frame.eos for frame in recording.frames]).encode())
    truth = list(session.plan.truths.values())
    acted = bool(truth and truth[0])
    told[edit] = [outcome.status, outcome.reason, acted, left.hexdigest()]
print(json.dumps(told))
"""


@pytest.mark.parametrize("number", kept.RELEASES)
def test_release(release: Callable[[str], kept.Release], tmp_path: Path, number: str) -> None:
    theirs = release(number)
    command = engine_command(str(theirs.python))
    # The model never ends by itself, so only what is not about its end shows.
    edits = [edit for edit in selftest.cases() if "ends" not in recipe_of(edit).needs]
    try:
        done = subprocess.run(
            [command.argv[0], "-c", RUN_ALL, theirs.config, theirs.voice, *edits],
            env=command.environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        command.cleanup()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    healthy = told.pop("")
    assert healthy[0] == "finished"
    wrong = {
        edit: f"{status}: {reason[:90]}, acted: {acted}"
        for edit, (status, reason, acted, left) in told.items()
        if not acted
        or (left == healthy[3]) != (recipe_of(edit).name == UNHEARD)
        or ((status == "failed") != recipe_of(edit).loud and recipe_of(edit).name not in OVERRUN)
    }
    assert not wrong, json.dumps(wrong, indent=1)


def recipe_of(edit: str) -> Recipe:
    return RECIPES[parse_edit(edit).recipe]
