"""The embedded demo model, made to open from any current directory.

pocket-tts opens the paths of a config relative to the current directory, so the config is copied
with its paths made absolute.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kvstudio.paths import resources

PATH_LINE = re.compile(r"^(\s*(?:weights_path|tokenizer_path):\s*)(\S+)\s*$", re.MULTILINE)


@contextmanager
def demo_config() -> Iterator[Path]:
    """While entered, a config of the demo model that works from any current directory."""
    folder = resources() / "demo"
    text = (folder / ("config.yaml" if _knows_all() else "config-2.yaml")).read_text(
        encoding="utf-8"
    )
    resolved = PATH_LINE.sub(lambda line: f"{line[1]}'{(folder / line[2]).as_posix()}'", text)
    with tempfile.TemporaryDirectory(prefix="kvstudio-demo-") as scratch:
        target = Path(scratch) / "config.yaml"
        target.write_text(resolved, encoding="utf-8")
        yield target


def demo_settings() -> dict[str, object]:
    """What this release of pocket-tts is to be told because its configs cannot say it."""
    return {} if _knows_all() else {"temp": 0.0}


def _knows_all() -> bool:
    """Whether this is not pocket-tts 2, which has fewer fields and one kind of tokenizer."""
    from pocket_tts.utils.config import Config

    return "capitalize_first_letter" in Config.model_fields


def demo_voice(name: str) -> Path | None:
    """The voice file of an embedded voice, or None if there is no such voice."""
    path = resources() / "demo" / "voices" / f"{name}.wav"
    return path if path.parent.joinpath(path.name).is_file() and "/" not in name else None


def demo_voices() -> list[str]:
    """The names of the embedded voices."""
    return sorted(path.stem for path in (resources() / "demo" / "voices").glob("*.wav"))
