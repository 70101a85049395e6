"""The whole pipeline, as small as can be: from nothing to a model that was measured."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kvstudio.paths import resources

NEEDED = ("pyworld", "pocketsphinx", "better_profanity")
MISSING = [name for name in NEEDED if not find_spec(name)]
if not shutil.which("espeak-ng"):
    MISSING.append("the program espeak-ng")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"the extra `train` is not here: {MISSING}"),
    pytest.mark.timeout(900),
]


def train(*arguments: str) -> str:
    """Run the command and give back what it says."""
    done = subprocess.run(
        [sys.executable, str(resources() / "demo" / "train"), *arguments, "--smoke"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_from_nothing_to_a_measured_model(tmp_path: Path) -> None:
    model, work = tmp_path / "model", tmp_path / "work"
    folders = ("--out", str(model), "--work", str(work))
    said = train(*folders)
    assert "flow_lm: 20 of 20 to do" in said
    assert sorted(path.name for path in (model / "voices").iterdir()) == [
        "high.wav",
        "low.wav",
        "mid.wav",
    ]
    assert (model / "model.safetensors").stat().st_size < 12e6
    assert (work / "train.log").read_text(encoding="utf-8") == said

    weights = (model / "model.safetensors").read_bytes()
    assert "flow_lm: 0 of 20 to do" in train(*folders)
    assert (model / "model.safetensors").read_bytes() == weights

    (model / "README.md").write_text("# A model\n", encoding="utf-8")
    train("evaluate", *folders)
    train("damage", *folders)
    readme = (model / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# A model\n")
    assert "|  | high | low | mid | wanted |" in readme
    assert readme.count("\n| healthy |") == 2
    assert readme.count("\n| unwritten slots are read |") == 2
    assert "| bit-equal for a seed, at temperature 0.7 | 100.0 % | 100.0 % | 100.0 % |" in readme
