"""KVStudio's own files, wherever the package lies."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from kvstudio import paths

ROOT = Path(__file__).parents[1]
SAY = """
import sys
from kvstudio.paths import resources
from kvstudio.engine.demo import demo_config, demo_voices
with demo_config() as config:
    print(resources())
    print(demo_voices())
    print(config.read_text())
"""


def installed(folder: Path) -> None:
    """The package with the small files of its demo, as a wheel has them."""
    for name in ("__init__.py", "paths.py", "engine/__init__.py", "engine/demo.py"):
        (folder / "kvstudio" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "kvstudio" / name, folder / "kvstudio" / name)
    demo = folder / "kvstudio" / "resources" / "demo"
    (demo / "voices").mkdir(parents=True)
    for name in ("config.yaml", "voices/low.wav"):
        shutil.copyfile(paths.resources() / "demo" / name, demo / name)


def said(package: Path, folder: Path) -> list[str]:
    """What another process says that finds the package in `package` and runs in `folder`."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("KVSTUDIO_RESOURCES", None)
    done = subprocess.run(
        [sys.executable, "-c", SAY],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check(lines: list[str]) -> Path:
    """The folder of the resources, if the config's paths lead there."""
    folder, voices, *config = lines
    assert voices == "['low']"
    assert f"weights_path: '{Path(folder).as_posix()}/demo/model.safetensors'" in config
    return Path(folder)


def test_from_a_zip_archive(tmp_path: Path) -> None:
    installed(tmp_path / "package")
    with ZipFile(tmp_path / "package.zip", "w") as archive:
        for path in (tmp_path / "package").rglob("*"):
            archive.write(path, path.relative_to(tmp_path / "package"))
    shutil.rmtree(tmp_path / "package")
    unpacked = check(said(tmp_path / "package.zip", tmp_path))
    assert not unpacked.exists()  # until the process ends, and no longer


def test_from_a_read_only_installation(tmp_path: Path) -> None:
    package, elsewhere = tmp_path / "package", tmp_path / "elsewhere"
    installed(package)
    elsewhere.mkdir()
    before = sorted(package.rglob("*"))
    for path in [package, *before]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert check(said(package, elsewhere)) == package / "kvstudio" / "resources"
        assert sorted(package.rglob("*")) == before
    finally:
        for path in [package, *before]:
            path.chmod(0o755)


def test_an_incomplete_installation_says_where_it_looked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KVSTUDIO_RESOURCES", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"looked in {tmp_path}. Install KVStudio again"):
        paths.resources()
